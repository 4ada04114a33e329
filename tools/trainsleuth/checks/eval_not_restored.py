"""The model is put into evaluation mode and never back.

eval(), or train(False), turns dropout off and freezes the running statistics of batch normalisation. Called for a validation
inside the training loop and not undone by train(), everything after the first validation is trained that way:
less regularised, with statistics of the first epoch.

Fix: model.train() at the start of each training epoch, or right after the evaluation.

Cannot see: modes that are set over a list of models or by a computed name, models chosen by a string.

Bad:
    import torch

    def train(model, loader, val_loader):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model.train()
        for epoch in range(10):
            for x in loader:
                optimizer.zero_grad()
                model(x).mean().backward()
                optimizer.step()
            model.eval()
            with torch.no_grad():
                total = sum(model(x).mean().item() for x in val_loader)

Bad (a model that trains itself):
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.5), nn.Linear(16, 1))

        def forward(self, x):
            return self.layers(x)

        def fit(self, loader, val_loader, optimizer):
            model = self.train()
            for step, x in enumerate(loader):
                optimizer.zero_grad()
                model(x).mean().backward()
                optimizer.step()
                if step % 100 == 0:
                    self.score(val_loader, model)

        def score(self, loader, model):
            model.eval()
            with torch.no_grad():
                return sum(model(x).mean().item() for x in loader)

    def main(loader, val_loader):
        model = Net()
        model.fit(loader, val_loader, torch.optim.Adam(model.parameters()))

Bad (the evaluation stands in another file):
    # file: evaluate.py
    import torch

    @torch.no_grad()
    def evaluate(net, loader):
        net.eval()
        return sum(net(x).mean().item() for x in loader)

    # file: train.py
    import torch
    from evaluate import evaluate

    def fit(model, loader, val_loader):
        optimizer = torch.optim.Adam(model.parameters())
        for step, x in enumerate(loader):
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
            if step % 1000 == 0:
                print(evaluate(model, val_loader))

Bad (train(False), and dropout between the layers of an LSTM):
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(8, 8, num_layers=2, dropout=0.1)
            self.head = nn.Linear(8, 1)

        def forward(self, x):
            return self.head(self.lstm(x)[0])

    def train(loader, val_loader):
        model = Net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model.train()
        for epoch in range(10):
            for x in loader:
                optimizer.zero_grad()
                model(x).mean().backward()
                optimizer.step()
            model.train(False)
            with torch.no_grad():
                total = sum(model(x).mean().item() for x in val_loader)

Good:
    import torch

    def train(model, teacher, loader, val_loader):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        teacher.eval()
        for epoch in range(10):
            model.train()
            for x in loader:
                optimizer.zero_grad()
                (model(x) - teacher(x).detach()).pow(2).mean().backward()
                optimizer.step()
            model.eval()
            with torch.no_grad():
                total = sum(model(x).mean().item() for x in val_loader)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import (
    Block,
    Class,
    Effect,
    Event,
    Expr,
    Function,
    Index,
    Instance,
    Loop,
    Site,
    Spot,
    Surrounding,
    Switch,
    encloses,
    guards,
    is_eval,
    is_every_few,
    is_made_in,
    is_module,
    is_optimizer,
    is_test,
    leaves_early,
    made_at,
    makers,
    modules_of_optimizer,
    reaching,
    stepped,
    steps_optimizer,
    surroundings,
    switches,
    written,
)
from trainsleuth.finding import Finding, Link

from ._modes import has_modes, modal_layer, restoring_names, speaks_of_modes
from ._verdicts import Verdicts

SAY = Verdicts(
    "eval-not-restored",
    "eval",
    "error",
    "modes",
    suspects=("eval-mode",),
    claims=("train-eval-mode",),
    forms={
        "modal": "of a model that surely has dropout or batch norm, in each round or every few of the loop that trains it",
        "other": "of another model, or in some rounds only",
    },
)
_EVALUATION = re.compile(r"eval|valid|test|infer|sampl|generat|predict|check|score|metric|visual", re.IGNORECASE)


def check(index: Index) -> Iterator[Finding]:
    for site in index.calls("eval", "train"):
        receiver = site.call.receiver
        if receiver is not None and is_eval(site.call) and not is_test(site.function.path):
            things = index.objects.of(receiver, Spot(site.function, site.position))
            known = [thing for thing in things if isinstance(thing, Instance)]
            if not known or any(is_module(index, one) for one in known):
                finding = _examined(index, site, receiver)
                if finding is not None:
                    yield finding


def _examined(index: Index, site: Site, receiver: Expr) -> Finding | None:
    """None when no training loop is around: a script that only evaluates is not a site."""
    path, line, shown = site.function.path, site.call.line, written(receiver)
    if _is_copy(site, receiver):
        return None
    found = [s for s in surroundings(index, Spot(site.function, site.position), site.call, "backward") if s.loop]
    is_known = True
    for around in found:
        if _restored(index, around) or _is_last(around):
            continue
        if not _is_trained(index, around):
            is_known = is_known and bool(_own(index, around))
            continue
        if _is_made_anew(index, around):
            continue
        if not _is_for_evaluation(index, site, around):
            return SAY.open(path, line, f"{shown} may be kept in evaluation mode on purpose")
        if (before := _is_already_off(around)) is not None:
            return SAY.open(path, line, f"evaluation mode is on from line {before.line} on, before the first round")
        return _failure(index, around, site, shown)
    if not found:
        return None
    if not is_known:
        return SAY.open(path, line, f"which model {shown} is, and so whether a loop around trains it, is not resolved")
    return SAY.passed(path, line, f"{shown} is put back into training mode, or not trained in this loop")


def _is_copy(site: Site, receiver: Expr) -> bool:
    """model = copy.deepcopy(model): the one that is trained keeps its mode."""
    found, certain = reaching(site.function, receiver.text, site.position)
    return certain and all(b.value is not None and "copy" in b.value.last for b in found)


def _restored(index: Index, around: Surrounding) -> str:
    """How some model gets back to training mode in the loop; wide: by any call whose name may lead there."""
    for effect in around.effects:
        if effect.kind == "train":
            return written(effect.expr)
    names = restoring_names(index, around.function)
    inside = [event for event in around.function.events if around.loop is None or around.loop.id in event.block.loops]
    functions = {spot.function for e in around.effects for spot in (*e.trail[1:], e.spot) if e.trail}
    for event in (*inside, *(event for function in functions for event in function.events)):
        for call in event.calls:
            if call.last in names or any(part.last in names for part in call.arguments if part.kind == "path"):
                return written(call)
        if any(target.last == "training" for target in event.targets):
            return "training is set by hand"
    return ""


def _is_last(around: Surrounding) -> bool:
    """Nothing of this loop trains the model after it: the next round makes another one, or there is none."""
    function, loop, here = around.function, around.loop, around.function.events[around.here.position].block
    if loop is not None and is_made_in(function, around.here.receiver, loop):
        return True
    for event in function.events[around.here.position + 1 :]:
        if event.kind in ("break", "return", "raise") and loop is not None and event.block.loops[-1:] == (loop.id,):
            if encloses(event.block, here):
                return True
    if loop is not None and loop.kind == "while" and _is_ended(function, loop, here):
        return True
    round_of = loop.target if loop is not None else None
    ends = loop.source.arguments if loop is not None and loop.source is not None else ()
    for branch in here.branches:
        test = branch.test
        if round_of is not None and test is not None and test.kind == "compare" and test.text == "==":
            this, last = test.parts if test.parts[0].text == round_of.text else test.parts[::-1]
            if this.text == round_of.text and last.kind == "binary" and last.text == "-" and last.parts[1].text == "1":
                return True
            if last.text.isdigit() and [end.text for end in ends[-1:]] == [str(int(last.text) + 1)]:
                return True
    return False


def _is_made_anew(index: Index, around: Surrounding) -> bool:
    """Each round makes the model that it trains, at whatever depth: in fit(), or in the constructor of a trainer."""
    function, loop, evaluated = around.function, around.loop, around.here
    made = made_at(index, evaluated.expr.receiver, evaluated.spot) if evaluated.expr.receiver is not None else None
    if loop is None or not made:
        return False
    stepped_on = {one for module, spot in _stepped_modules(index, around) for one in made_at(index, module, spot)}
    here = function.events[evaluated.position].block
    new: set[Expr] = set()
    for position, event in enumerate(function.events):
        if loop.id in event.block.loops and encloses(event.block, here):
            new |= _calls_made(index, Spot(function, position))
    return (made & stepped_on or made) <= new


def _calls_made(index: Index, spot: Spot, depth: int = 3) -> set[Expr]:
    """The calls of a statement and those that always run in what it calls."""
    found: set[Expr] = set()
    for call in spot.function.events[spot.position].calls:
        found.add(call)
        for target in index.calling.run_by(call, spot) if depth else ():
            for position, event in enumerate(target.function.events):
                if not event.block.branches and not event.block.loops and not leaves_early(target.function, position):
                    found |= _calls_made(index, Spot(target.function, position), depth - 1)
    return found


def _is_ended(function: Function, loop: Loop, here: Block) -> bool:
    """Beside it, what the while loop goes on for is set to False."""
    return any(
        event.block == here
        and event.value is not None
        and event.value.text == "False"
        and loop.source is not None
        and any(target.text == loop.source.text for target in event.targets)
        for event in function.events
    )


def _is_already_off(around: Surrounding) -> Event | None:
    """What puts the model itself into evaluation mode before the loop, when nothing there undoes it."""
    function, loop, evaluated = around.function, around.loop, around.here.receiver
    found = None
    for event in function.events if loop is not None else ():
        if loop is not None and event.kind == loop.kind and event.text == str(loop.id):
            return found if found is not None and encloses(found.block, event.block) else None
        for call in event.calls:
            if call.last in ("eval", "train") and call.receiver is not None and written(call.receiver) == evaluated:
                found = event if is_eval(call) else None
    return None


def _is_trained(index: Index, around: Surrounding) -> bool:
    """The optimizer that steps in the loop was given the parameters of the model that is evaluated."""
    evaluated = around.here
    if not evaluated.receiver:
        return False
    own = _own(index, around)
    return any(
        _is_same(module.text, spot, evaluated, around)
        or (own & made_at(index, module, spot) and not _is_copy_of(index, evaluated, module, spot))
        or (not own and _is_the_only_one(index, evaluated, module, spot))
        for module, spot in _stepped_modules(index, around)
    )


def _own(index: Index, around: Surrounding) -> frozenset[Expr]:
    """The calls that make the model that is evaluated, as far as they are known."""
    evaluated = around.here
    return (
        made_at(index, evaluated.expr.receiver, evaluated.spot) if evaluated.expr.receiver is not None else frozenset()
    )


def _is_the_only_one(index: Index, evaluated: Effect, module: Expr, spot: Spot) -> bool:
    """Of the model that is evaluated only its class is known (self), and the project makes one of it: the one that is trained."""
    of_evaluated = (
        index.objects.of(evaluated.expr.receiver, evaluated.spot) if evaluated.expr.receiver is not None else ()
    )
    classes = [
        {one.kind for one in things if isinstance(one, Instance)}
        for things in (of_evaluated, index.objects.of(module, spot))
    ]
    shared = classes[0] & classes[1]
    return len(shared) == 1 and all(isinstance(one, Class) and len(list(index.calls(one.name))) == 1 for one in shared)


def _is_copy_of(index: Index, evaluated: Effect, module: Expr, spot: Spot) -> bool:
    """ema = copy.deepcopy(model), wherever it is evaluated, as far as known: the model keeps its mode."""
    receiver = evaluated.expr.receiver
    made = {one for one, _ in makers(index, receiver, evaluated.spot)} if receiver is not None else set()
    is_copied = any(part.kind == "call" and "copy" in part.last for one in made for part in one.walk())
    return is_copied and made.isdisjoint(one for one, _ in makers(index, module, spot))


def _stepped_modules(index: Index, around: Surrounding) -> Iterator[tuple[Expr, Spot]]:
    """What the optimizers that step in the loop were given, each where it was given."""
    for effect in around.effects:
        optimizer = stepped(index, effect.expr, effect.spot) if steps_optimizer(index, effect) else None
        for made in _instances(index, optimizer, effect.spot):
            for module in modules_of_optimizer(made) if is_optimizer(index, made) else ():
                assert made.spot is not None
                yield Expr("path", module, (), 0), made.spot


def _is_same(module: str, made: Spot, evaluated: Effect, around: Surrounding) -> bool:
    """The same name in the same function, or the same attribute of the same class."""
    if module != evaluated.receiver:
        return False
    same_class = bool(made.function.owner) and made.function.owner == around.function.owner
    return made.function is around.function or (module.startswith("self.") and same_class)


def _instances(index: Index, expr: Expr | None, spot: Spot) -> Iterator[Instance]:
    for thing in index.objects.of(expr, spot) if expr is not None else ():
        if isinstance(thing, Instance) and thing.call is not None:
            yield thing


def _is_for_evaluation(index: Index, site: Site, around: Surrounding) -> bool:
    """eval() opens an evaluation, rather than a training in evaluation mode."""
    if _EVALUATION.search(site.function.name) and site.function is not around.function:
        return True
    after = site.function.events[site.position + 1 : site.position + 12]
    spots = (Spot(site.function, site.position + 1 + n) for n in range(len(after)))
    if any(index.values.is_without_grad(spot) for spot in spots):
        return True
    return any(_EVALUATION.search(call.last) for event in after[:4] for call in event.calls)


def _is_regular(index: Index, around: Surrounding) -> bool:
    """Nothing decides on the evaluation but the number of the round: if step % 100 == 0."""
    first, *inner = (*around.here.trail, around.here.spot)
    tests = guards(around.function, first.position, around.loop)
    if not all(is_every_few(index, test, first) for test in tests):
        return False
    return not any(
        spot.function.events[spot.position].block.branches or leaves_early(spot.function, spot.position)
        for spot in inner
    )


def _frozen(index: Index, around: Surrounding) -> Switch | None:
    """Where parameters of what an optimizer of the loop was shown are set not to be trained, and not all of them thawed."""
    for module, spot in _stepped_modules(index, around):
        cls = index.class_of(spot.function) if "." in module.text else None
        beside = cls.methods.values() if cls is not None else ()
        for function in dict.fromkeys((spot.function, around.function, *beside)):
            inside = around.loop.id if around.loop is not None and function is around.function else -1
            found = [
                one
                for one in switches(index, function)
                if one.path == module.text and inside not in function.events[one.spot.position].block.loops
            ]
            if any(one.on is False for one in found) and not any(one.on and one.is_whole for one in found):
                return next(one for one in found if one.on is False)
    return None


def _failure(index: Index, around: Surrounding, site: Site, shown: str) -> Finding:
    path, line = site.function.path, site.call.line
    assert around.loop is not None
    backward = next(e for e in around.effects if e.kind == "backward")
    chain = (
        Link(around.function.path, around.loop.line, f"each round of this {around.loop.kind} loop"),
        Link(backward.spot.function.path, backward.line, f"{written(backward.expr)} trains the model"),
        *(Link(spot.function.path, spot.line, "reached through this call") for spot in around.here.trail),
        Link(path, line, f"{written(site.call)} switches it to evaluation mode"),
    )
    message = (
        f"{written(site.call)} at {path}:{line} is never undone in the loop at {around.function.path}:{around.loop.line} "
        "that trains the model, so all later rounds train in evaluation mode: expected train() in each round."
    )
    if (frozen := _frozen(index, around)) is not None:
        link = Link(frozen.spot.function.path, frozen.spot.line, f"parameters of {frozen.path} are frozen")
        message += " A part of it is frozen, though, which may be meant to stay in evaluation mode."
        return SAY.fail(path, line, message, (*chain, link), severity="note")
    receiver = site.call.receiver
    things = list(_instances(index, receiver, around.here.spot))
    if not things:
        things = [
            thing for module, spot in _stepped_modules(index, around) for thing in _instances(index, module, spot)
        ]
    layers = [modal_layer(index, thing, surely=True) for thing in things]
    if layers and layers[0] is not None and all(layers) and _is_regular(index, around):
        return SAY.fail(path, line, message, (*chain, layers[0]), form="modal")
    if any(has_modes(index, thing) for thing in things) if things else speaks_of_modes(index, path):
        return SAY.fail(path, line, message, chain, form="other")
    return SAY.fail(path, line, f"{message} No dropout or batch norm was found in it, though.", chain, severity="note")
