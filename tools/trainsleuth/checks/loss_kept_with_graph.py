"""Losses are summed or kept with their graph.

total += loss keeps not the number but the tensor, and with it the record of how it was computed. backward() frees
the activations in it; what stays is 0.35 to 0.5 KB of host memory for each operation (torch 2.13 on a CPU), in every
round, until the sum is gone. Over a whole run that kills it late: an alarm. Where the sum begins anew in each epoch it
is a note, for mostly it costs little.

Fix: total += loss.item(), or loss.detach().

Cannot see: losses that are detached by a function that is not resolved, sums that go backward in other places.

Bad (over all epochs):
    import torch

    def train(model, loader):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        history = []
        for epoch in range(90):
            for x, y in loader:
                loss = torch.nn.functional.mse_loss(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                history.append(loss)
        return history

Bad:
    import torch

    def train(model, loader):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        total = 0.0
        for x, y in loader:
            loss = torch.nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss
        return total / len(loader)

Bad (the sum of an epoch is kept by the caller):
    import torch

    class Trainer:
        def __init__(self, model):
            self.model = model
            self.losses = []
            self.optimizer = torch.optim.Adam(model.parameters())

        def epoch(self, loader):
            total = 0.0
            for x, y in loader:
                loss = torch.nn.functional.mse_loss(self.model(x), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                total += loss
            return total / len(loader)

        def fit(self, loader):
            for epoch in range(90):
                total = self.epoch(loader)
                self.losses.append(total)

Bad (only the target is detached):
    import torch

    def train(model, loader):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        total = 0.0
        for x, y in loader:
            loss = torch.nn.functional.mse_loss(model(x), model(y).detach())
            total += loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return total / len(loader)

Bad (kept in a list of the object):
    import torch

    class Trainer:
        def __init__(self, model):
            self.model = model
            self.history = []
            self.optimizer = torch.optim.Adam(model.parameters())

        def fit(self, loader):
            for x, y in loader:
                loss = torch.nn.functional.mse_loss(self.model(x), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.history.append(loss)

Good:
    import torch

    def train(model, loader):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        total = 0.0
        for x, y in loader:
            loss = 0.0
            for part in model(x):
                loss += part.pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        return total / len(loader)

Good (a round that is left out is kept as a number):
    import torch

    def train(model, loader):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        history = []
        for x, y in loader:
            loss = torch.nn.functional.mse_loss(model(x), y)
            if torch.isnan(loss):
                loss = loss.cpu().detach().numpy()
                history.append(loss)
                continue
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            history.append(loss.item())
        return history

Good (one batch in each call):
    import torch

    def train(model, loader, skipped):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        total = 0
        for place, (x, y) in enumerate(loader):
            if place < skipped:
                continue
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss
            break
        print(total)

Good (one round for each of a few students):
    import torch

    class Cohort:
        def __init__(self, students, optimizers):
            self.students, self.optimizers = students, optimizers

        def train(self, loader):
            total = 0.0
            for x, y in loader:
                mean = 0
                for i in range(len(self.students)):
                    self.optimizers[i].zero_grad()
                    loss = torch.nn.functional.mse_loss(self.students[i](x), y)
                    loss.backward()
                    self.optimizers[i].step()
                    mean += loss
                total += mean.item()
            return total
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainsleuth.facts import (
    Class,
    Expr,
    Function,
    Index,
    Instance,
    Site,
    Spot,
    bindings,
    derived,
    is_test,
    mentions,
    reaching,
    written,
)
from trainsleuth.finding import Finding, Link

from ._kept_outside import kept_by_caller
from ._lasting import is_bounded, is_left_after, is_of_one_round, is_of_one_update, is_of_whole_run, is_short
from ._verdicts import Verdicts

SAY = Verdicts(
    "loss-kept-with-graph",
    "training-procedure",
    "warning",
    "",
    suspects=("another-loop-fault",),
    claims=("keep-history-memory-leak",),
    look="print the process's memory every hundred batches: it grows",
    forms={"": "kept over the whole run", "epoch": "kept until the sum begins anew"},
)


class _Keeping(NamedTuple):
    """`name` takes in `value` at event `position`, round after round."""

    name: str
    position: int
    value: Expr


def check(index: Index) -> Iterator[Finding]:
    accused: set[tuple[str | None, int | None]] = set()  # a loop may hold several backward() of one name
    for site in index.calls("backward"):
        loss = _went_backward(site.call)
        loops = site.event.block.loops
        if is_test(site.function.path) or not _is_stepped(index, site):
            continue
        if loops and loss:
            for keeping in _keepings(site, loss):
                finding = _examined(index, site, keeping, loss)
                if finding.outcome != "fail":
                    yield finding
                elif (finding.path, finding.line) not in accused:
                    accused.add((finding.path, finding.line))
                    yield finding


def _went_backward(call: Expr) -> str:
    """The name of what goes backward, scaled or not: loss.backward(), (loss / 4).backward(), scaler.scale(loss / 4).backward(),
    accelerator.backward(loss)."""
    given = call.arguments[0] if len(call.arguments) == 1 else None
    whole = given if given is not None and given.kind == "path" else call.receiver
    if whole is not None and whole.kind == "call" and whole.last == "scale" and len(whole.arguments) == 1:
        whole = whole.arguments[0]
    if whole is not None and whole.kind == "binary" and whole.text in ("/", "*"):
        whole = next((part for part in whole.parts if part.kind == "path" and "." not in part.text), None)
    return whole.text if whole is not None and whole.kind == "path" else ""


def _is_stepped(index: Index, site: Site) -> bool:
    """Each round of the loop is a training step, rather than one term of a loss."""
    loops = site.event.block.loops
    return any(
        effect.kind == "step" and site.function.events[effect.position].block.loops == loops
        for effect in index.effects.of(site.function)
    )


def _keepings(site: Site, loss: str) -> Iterator[_Keeping]:
    """Names made before the loop that take in the loss as it is, in each round."""
    function, loop = site.function, site.event.block.loops[-1]
    for position, event in enumerate(function.events):
        if loop not in event.block.loops:
            continue
        found: list[tuple[str, Expr]] = []
        if (
            event.kind == "augment"
            and event.text == "+="
            and event.value is not None
            and event.targets[0].kind == "path"
        ):
            found.append((event.targets[0].text, event.value))
        elif event.kind == "assign" and event.value is not None and event.value.kind == "binary":
            for target in event.targets:
                if target.kind == "path" and event.value.text == "+" and mentions(event.value, [target.text]):
                    found.append((target.text, event.value))
        for call in event.calls:
            if call.last == "append" and call.receiver is not None and len(call.arguments) == 1:
                if call.receiver.kind == "path":
                    found.append((call.receiver.text, call.arguments[0]))
        for name, value in found:
            if name != loss and _is_live(value, loss) and _is_before(function, name, position, loop):
                yield _Keeping(name, position, value)


def _is_live(value: Expr, loss: str) -> bool:
    """The value is the loss, or arithmetic on it, with nothing that cuts it off."""
    if value.kind == "path":
        return value.text == loss
    if value.kind == "binary":
        return any(_is_live(part, loss) for part in value.parts)
    return False


def _is_before(function: Function, name: str, position: int, loop: int) -> bool:
    """The name is given its start outside of the loop, and nothing in the loop resets or replaces it."""
    for binding in bindings(function).get(name, ()):
        event = function.events[binding.position]
        if loop in event.block.loops and binding.kind not in ("append", "augment") and binding.position != position:
            return False
    for event in function.events:
        if loop in event.block.loops:
            for call in event.calls:
                own = call.receiver is not None and call.receiver.text == name
                if own and call.last in ("clear", "pop", "popleft"):
                    return False
            if event.kind == "delete" and mentions(event.value, [name]):
                return False
            if any(t.kind == "index" and t.parts[0].text == name and t.parts[1].kind == "slice" for t in event.targets):
                return False
    found = bindings(function).get(name, ())
    made = [b for b in found if loop not in function.events[b.position].block.loops and b.kind == "assign"]
    return bool(made) or name.startswith(f"{function.self_name}.") or function.name == "<module>"


def _examined(index: Index, site: Site, keeping: _Keeping, loss: str) -> Finding:
    function, path = site.function, site.function.path
    line, name = function.events[keeping.position].line, keeping.name
    if index.values.is_without_grad(Spot(function, keeping.position)):
        return SAY.passed(path, line, f"{name} is summed without gradients")
    if _is_cut(function, loss, site.position, keeping.position):
        return SAY.passed(path, line, f"{loss} is cut off before {name} takes it in")
    if _goes_backward(index, function, name):
        return SAY.passed(path, line, f"{name} goes backward itself")
    if _is_of_its_own(index, Spot(function, keeping.position), name):
        return SAY.open(path, line, f"{name} is an object of the project, and may keep a number only")
    if is_bounded(function, name):
        return SAY.passed(path, line, f"{name} keeps the last few only")
    if is_of_one_round(index, site, name):
        return SAY.passed(path, line, f"{name} begins anew in each training step around this loop")
    if is_short(site, name):
        return SAY.passed(path, line, f"{name} takes in a few rounds only")
    if is_left_after(function, keeping.position):
        return SAY.passed(path, line, f"the loop is left once {name} has taken in a loss")
    if is_of_one_update(site, name):
        return SAY.open(
            path, line, f"{name} lives for one call of {function.name}: how often that goes round is not known"
        )
    kept = kept_by_caller(index, function, name, keeping.position)
    chain = (
        Link(path, site.call.line, f"{written(site.call)} shows that {loss} has a graph"),
        Link(path, line, f"{name} keeps it, round after round"),
        *((kept,) if kept is not None else ()),
    )
    lasts = kept is not None or is_of_whole_run(index, site, name)
    how_long = "" if lasts else f", until {name} begins anew"
    message = (
        f"{name} at {path}:{line} takes in {loss} with its graph in every round, so memory grows{how_long}: expected "
        f"{loss}.item() or {loss}.detach()."
    )
    return SAY.fail(path, line, message, chain, form="" if lasts else "epoch")


def _is_cut(function: Function, loss: str, backward: int, keeping: int) -> bool:
    """The name is given something else between backward() and keeping, or a number before: loss = loss.item()."""
    found, _ = reaching(function, loss, keeping)
    if found and all(_is_number(one.value) for one in found):
        return True
    return any(binding.position > backward for binding in found if binding.position < keeping) or any(
        call.callee == f"{loss}.detach_" for event in function.events for call in event.calls
    )


def _is_number(value: Expr | None) -> bool:
    """loss.cpu().detach().numpy(): what has left the graph; not what a call makes of something that has."""
    while value is not None and value.kind == "call":
        if value.last in ("item", "detach", "numpy", "tolist"):
            return True
        value = value.receiver
    return False


def _goes_backward(index: Index, function: Function, name: str) -> bool:
    names = derived(function, [name], 0)
    for effect in index.effects.of(function):
        if effect.kind == "backward" and mentions(function.events[effect.position].value, names):
            return True
    return any(
        event.kind == "return" and mentions(event.value, [name]) and _returns_loss(index, function)
        for event in function.events
    )


def _returns_loss(index: Index, function: Function) -> bool:
    """What the function returns may go backward in a caller."""
    for caller in index.callers(function):
        event = caller.spot.function.events[caller.spot.position]
        names = derived(caller.spot.function, [t.text for t in event.targets], caller.spot.position)
        for effect in index.effects.of(caller.spot.function):
            if effect.kind == "backward" and effect.position > caller.spot.position:
                if mentions(caller.spot.function.events[effect.position].value, names):
                    return True
    return False


def _is_of_its_own(index: Index, spot: Spot, name: str) -> bool:
    things = index.objects.of(Expr("path", name, (), spot.line), spot)
    return any(isinstance(thing, Instance) and isinstance(thing.kind, Class) for thing in things)
