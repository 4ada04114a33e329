"""Gradients are never cleared between optimizer steps.

backward() adds to .grad. Without zero_grad() each step uses the sum of all gradients since the start:
nothing fails, the loss often falls at first, then training wanders or diverges as the sum grows, and a
smaller learning rate seems to help.

Fix: call optimizer.zero_grad() once per step, before backward() or after step().

Cannot see: loops of frameworks outside the project, optimizers that are not resolved and not named like
one, gradients cleared through names built at run time, loops that run only once by design, benchmarks.

Bad:
    import torch
    from torch import nn

    def train(model: nn.Module, loader):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()

Bad (cleared once per epoch only, and the step is in another file):
    # file: step.py
    def train_step(model, optimizer, batch):
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        return loss.item()

    # file: main.py
    import torch
    from step import train_step

    def main(model, loader):
        optimizer = torch.optim.Adam(model.parameters())
        for epoch in range(10):
            optimizer.zero_grad()
            for batch in loader:
                train_step(model, optimizer, batch)

Good:
    import torch
    from torch import nn

    def train(model: nn.Module, loader, accumulate: int = 4):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for i, (x, y) in enumerate(loader):
            loss = nn.functional.cross_entropy(model(x), y) / accumulate
            loss.backward()
            if (i + 1) % accumulate == 0:
                optimizer.step()
                optimizer.zero_grad()
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import (
    Effect,
    Event,
    Expr,
    Index,
    Instance,
    Round,
    Spot,
    Thing,
    bound_names,
    external_name,
    header_of,
    is_made_in,
    is_optimizer,
    is_sibling,
    is_test,
    made_at,
    mentions,
    modules_of_optimizer,
    rounds,
    sounds_like_optimizer,
    stepped,
    written,
)
from trainsleuth.finding import Confidence, Finding, Link

from ._indirect import clears_out_of_sight
from ._no_training import is_benchmark, is_empty, why_no_training
from ._scaling import writes_gradients
from ._verdicts import Verdicts

SAY = Verdicts(
    "missing-zero-grad",
    "training-procedure",
    "error",
    "step_trace",
    suspects=("missing-zero-grad",),
    claims=("zero-grad-forgotten",),
    forms={
        "near": "nothing clears anything, and loop and step stand in one function",
        "called": "nothing clears anything, and the loop reaches the step through calls",
        "before": "cleared in front of the loop, which may make one round only",
        "others": "what clears was taken for that of another optimizer or module",
    },
)
_AFTER_STEP = ("register_step_post_hook", "register_optimizer_step_post_hook", "register_post_accumulate_grad_hook")
_CLEARING_NONE = ("torch.nn.", "torch.optim.", "torchvision.", "numpy.", "builtins.", "tqdm.")
_HARMLESS = ("step", "unscale_", "print", "save", "append", "get_last_lr", "format", "join")


def check(index: Index) -> Iterator[Finding]:
    for site in index.calls("step"):
        spot = Spot(site.function, site.position)
        optimizer = stepped(index, site.call, spot)
        if optimizer is None or is_test(site.function.path):
            continue
        cls = index.class_of(site.function)
        if cls is not None and is_optimizer(index, Instance(cls)):
            continue  # an optimizer around another one: who steps it clears both
        things = index.objects.of(optimizer, spot)
        known = [thing for thing in things if isinstance(thing, Instance) and is_optimizer(index, thing)]
        # without a known class, a name and the absence of any other object must do
        is_likely = sounds_like_optimizer(optimizer) and not any(isinstance(thing, Instance) for thing in things)
        if known or is_likely:
            yield _examined(index, spot, optimizer, known)


def _examined(index: Index, spot: Spot, optimizer: Expr, known: list[Instance]) -> Finding:
    path, line, shown = spot.function.path, spot.line, written(optimizer)
    found = list(rounds(index, spot, optimizer))
    cleared = [_cleared(index, one, known) or _cleared_beside(index, one, spot, optimizer) for one in found]
    doubts = [
        "" if how else _doubt(index, one, known) or _elsewhere(index, one, spot, optimizer)
        for one, how in zip(found, cleared, strict=True)
    ]
    if found and all(is_empty(index, one.backward) for one in found):
        return SAY.passed(path, line, f"{written(found[0].backward.expr)} has no values to train")
    if found and all(is_benchmark(one.step.function) for one in found):
        return SAY.passed(path, line, f"{found[0].step.function.name} measures time and keeps nothing of the training")
    for one, how, doubt in zip(found, cleared, doubts, strict=True):
        if not how and not doubt:
            return _failure(one, spot, shown, "high" if known else "medium")
    if not found and _clears_itself(index, spot):
        return SAY.passed(path, line, f"{shown} is cleared by the function that steps it")
    if not found:
        return SAY.open(path, line, f"no loop with a backward() was found around {shown}.step()")
    unclear = [doubt for how, doubt in zip(cleared, doubts, strict=True) if not how]
    if unclear:
        return SAY.open(path, line, unclear[0])
    return SAY.passed(path, line, f"{shown} is cleared: {cleared[0]}")


def _clears_itself(index: Index, spot: Spot) -> bool:
    """A step method of a framework's loop: backward, step and clear stand side by side."""
    events = spot.function.events
    here = events[spot.position].block
    effects = index.effects.of(spot.function)
    kinds = {effect.kind for effect in effects if not is_sibling(events[effect.position].block, here)}
    return {"backward", "clear"} <= kinds


def _cleared(index: Index, found: Round, known: list[Instance]) -> str:
    """How the gradients of the step are fresh in each round; "" when nothing says so."""
    for effect in found.inside:
        if effect.kind == "clear" and found.meets(effect) and not _is_of_others(index, effect, found, known):
            return f"{written(effect.expr)} at {effect.spot.function.path}:{effect.line}"
    if any(_is_distributed(effect) for effect in found.inside if effect.kind == "backward"):
        return "gradients live in a distributed autograd context"
    made = [one.spot for one in known if one.spot is not None and one.spot.function is found.step.function]
    is_own = is_made_in(found.step.function, found.step.receiver, found.loop)
    if is_own or any(found.loop.id in spot.function.events[spot.position].block.loops for spot in made):
        return "the optimizer is made anew in each round"
    return ""


def _cleared_beside(index: Index, found: Round, spot: Spot, optimizer: Expr) -> str:
    """The function of the step clears as well, each time that the loop calls it by whatever name."""
    if not found.step.trail:
        return ""
    here = spot.function.events[spot.position].block
    for effect in index.effects.of(spot.function):
        if effect.kind == "clear" and effect.receiver in ("", optimizer.text):
            if not is_sibling(spot.function.events[effect.position].block, here):
                return f"{written(effect.expr)} at {effect.spot.function.path}:{effect.line}"
    return ""


def _is_of_others(index: Index, effect: Effect, found: Round, known: list[Instance]) -> bool:
    """Surely clears gradients that this step does not use: those of another optimizer, of another module."""
    receiver = effect.expr.receiver if effect.expr.kind == "call" else None
    if receiver is None or not effect.receiver or effect.receiver == found.step.receiver or not known:
        return False
    things: tuple[Thing, ...] = index.objects.of(receiver, effect.spot)
    modules = {path for one in known for path in modules_of_optimizer(one)}
    if things and all(is_optimizer(index, thing) for thing in things):
        shared = modules & {path for one in things if isinstance(one, Instance) for path in modules_of_optimizer(one)}
        return not shared and not set(things) & set(known)
    if not modules or not things or not all(isinstance(thing, Instance) for thing in things):
        return False
    own = made_at(index, receiver, effect.spot)
    return all(_is_apart(index, effect, own, one) for one in known)


def _is_apart(index: Index, effect: Effect, own: frozenset[Expr], optimizer: Instance) -> bool:
    """None of the modules of an optimizer is the one that is cleared; names of different functions tell nothing, what
    made the objects does.
    """
    for path in modules_of_optimizer(optimizer):
        spot = optimizer.spot
        if spot is None or _may_overlap(effect.receiver, path):
            return False
        made = made_at(index, Expr("path", path, (), spot.line), spot)
        if own & made or (not made and spot.function is not effect.spot.function):
            return False
    return True


def _may_overlap(one: str, other: str) -> bool:
    """One path is, or may hold, the other; only two different plain names are surely apart."""
    if f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}."):
        return True  # self.parameters() and self.net.zero_grad()
    a, b = (path.removeprefix("self.").removesuffix(".module") for path in (one, other))
    return a == b or "." in a or "." in b


def _is_distributed(effect: Effect) -> bool:
    """Gradients of torch.distributed.autograd are kept per context, fresh for every pass."""
    block = effect.spot.function.events[effect.spot.position].block
    return "dist" in written(effect.expr) or any("autograd" in context.callee for context in block.contexts)


def _doubt(index: Index, found: Round, known: list[Instance]) -> str:
    """Something in the loop that may clear without our seeing it, or no training; "" when there is nothing."""
    if is_none := why_no_training(index, found, known):
        return is_none
    if (other := _in_other_rounds(index, found, known)) is not None:
        return (
            f"{written(other.expr)} at {other.spot.function.path}:{other.line} clears in rounds that take another arm"
        )
    step = found.step
    if any(index.part(hook.function.path) == index.part(step.function.path) for hook in index.calls(*_AFTER_STEP)):
        return "a hook runs after each step and may clear gradients"
    if out_of_sight := clears_out_of_sight(index, found):
        return out_of_sight
    if writes_gradients(_outside(found)):
        return "the gradients are written after the step"
    name = step.receiver.rpartition(".")[2]
    for position, event in enumerate(step.function.events):
        if found.loop.id not in event.block.loops or is_sibling(event.block, step.event.block):
            continue
        for call in event.calls:
            if call.last != "zero_grad" and _may_clear(index, call, Spot(step.function, position)):
                return f"{written(call)} may clear gradients at line {call.line}"
            is_given = any(inner.last == name != "" for part in call.parts[1:] for inner in part.walk())
            if is_given and call.last not in _HARMLESS and not index.functions_named(call.last):
                return f"{written(call)} at line {call.line} is given the optimizer and was not resolved"
    return ""


def _in_other_rounds(index: Index, found: Round, known: list[Instance]) -> Effect | None:
    """What clears in another arm of a test that each round decides anew: first of four micro-batches, last of four."""
    events, loop = found.step.function.events, found.loop
    header = events[header_of(found.step.function, loop)]
    changing = {
        name for event in events if event is header or loop.id in event.block.loops for name in bound_names(event)
    }
    for effect in found.inside:
        if effect.kind == "clear" and not found.meets(effect) and not _is_of_others(index, effect, found, known):
            arms = {branch.id: branch for branch in found.step.event.block.branches}
            for branch in events[effect.position].block.branches:
                if (own := arms.get(branch.id)) is not None and own.arm != branch.arm:
                    if any(mentions(test, changing) for test in (*own.tests, *branch.tests)):
                        return effect
    return None


def _outside(found: Round) -> Iterator[Event]:
    """What the loop does before its backward pass and after its step."""
    for position, event in enumerate(found.step.function.events):
        if found.loop.id in event.block.loops and not found.backward.position <= position <= found.step.position:
            yield event


def _elsewhere(index: Index, found: Round, spot: Spot, optimizer: Expr) -> str:
    """Another method clears this very optimizer, and no way to it was seen: messages and hooks may lead there."""
    cls = index.class_of(spot.function)
    known = {found.step.function, spot.function, *(call.function for call in found.step.trail)}
    for one in index.lineage(cls) if cls is not None and optimizer.text.startswith("self.") else ():
        for method in one.methods.values():
            for event in method.events if method not in known else ():
                if any(
                    call.last == "zero_grad" and call.callee.startswith(f"{optimizer.text}.") for call in event.calls
                ):
                    return f"{method.name} clears {optimizer.text} at {method.path}:{event.line}; who calls it was not seen"
    return ""


def _may_clear(index: Index, call: Expr, spot: Spot) -> bool:
    """A function of that name clears gradients, and this call is not surely of a library that clears none."""
    if not index.effects.may_clear(call, spot.function):
        return False
    owner = call.receiver if call.last == "step" else None
    things = index.objects.of(owner or call.parts[0], spot)
    return not things or not all(external_name(thing).startswith(_CLEARING_NONE) for thing in things)


def _failure(found: Round, spot: Spot, optimizer: str, confidence: Confidence) -> Finding:
    loop, backward, path, line = found.loop, found.backward, spot.function.path, spot.line
    outer = found.step.function.path
    chain = (
        Link(outer, loop.line, f"each round of this {loop.kind} loop"),
        Link(backward.spot.function.path, backward.line, f"{written(backward.expr)} adds to .grad"),
        *(Link(call.function.path, call.line, "reached through this call") for call in found.step.trail),
        Link(path, line, f"{optimizer}.step() uses the sum of all rounds so far"),
    )
    message = (
        f"{optimizer}.step() at {path}:{line} runs in the loop at {outer}:{loop.line} with "
        f"backward(), but nothing in that loop clears its gradients: expected {optimizer}.zero_grad() in each round."
    )
    others = any(effect.kind == "clear" and found.meets(effect) for effect in found.inside)
    form = "others" if others else "called" if found.step.trail else "before" if _is_cleared_before(found) else "near"
    return SAY.fail(path, line, message, chain, confidence, form=form)


def _is_cleared_before(found: Round) -> bool:
    """In front of the loop, in its function: the data may be one batch, as a graph often is."""
    for event in found.step.function.events:
        if event.line < found.loop.line and found.loop.id not in event.block.loops:
            if any(call.callee == f"{found.step.receiver}.zero_grad" for call in event.calls):
                return True
    return False
