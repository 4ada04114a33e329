"""Gradients are never cleared between optimizer steps.

backward() adds to .grad. Without zero_grad() each step uses the sum of all gradients since the start: nothing fails, the loss
often falls at first, then training wanders or diverges as the sum grows, and a smaller learning rate seems to help.

Fix: call optimizer.zero_grad() once per step, before backward() or after step().

Cannot see: loops of frameworks outside the project, optimizers that are not resolved and not named like one, gradients
cleared through names built at run time, loops that run only once by design.

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
from dataclasses import replace
from typing import NamedTuple

from trainsleuth.facts import (
    Effect,
    Event,
    Expr,
    Function,
    Index,
    Instance,
    Loop,
    Spot,
    Thing,
    is_optimizer,
    is_sibling,
    is_test,
    modules_of_optimizer,
    sounds_like_optimizer,
    stepped,
    written,
)
from trainsleuth.finding import Confidence, Family, Finding, Link, Outcome, Severity

BY = "check:missing-zero-grad"
FAMILY: Family = "training-procedure"
SEVERITY: Severity = "error"
SUSPECTS = ("missing-zero-grad",)
CLAIMS = ("zero-grad-forgotten",)
NEXT = "trainsleuth probe --only step_trace -- <your command>"
_HARMLESS = ("step", "unscale_", "print", "save", "append", "get_last_lr", "format", "join")
MAX_CALLERS = 4  # how far out the loop around a step is looked for


class _Step(NamedTuple):
    """An optimizer step, seen from `function`: its event there, and the optimizer in that function's words."""

    function: Function
    position: int
    receiver: str
    trail: tuple[Spot, ...] = ()

    @property
    def event(self) -> Event:
        return self.function.events[self.position]


class _Round(NamedTuple):
    """The loop in which a step and a backward happen, and what was found there."""

    step: _Step
    loop: Loop
    backward: Effect
    cleared: str  # how it is cleared, "" when it is not
    doubt: str = ""


def check(index: Index) -> Iterator[Finding]:
    for site in index.calls("step"):
        spot = Spot(site.function, site.position)
        optimizer = stepped(index, site.call, spot)
        if optimizer is None or is_test(site.function.path):
            continue
        things = index.objects.of(optimizer, spot)
        known = [thing for thing in things if is_optimizer(index, thing)]
        if known or (sounds_like_optimizer(optimizer) and _is_open(things)):
            yield _examined(index, spot, optimizer, known)


def _is_open(things: tuple[Thing, ...]) -> bool:
    """Nothing says that it is something else than a torch optimizer."""
    return not any(isinstance(thing, Instance) for thing in things)


def _examined(index: Index, spot: Spot, optimizer: Expr, known: list[Thing]) -> Finding:
    name = optimizer.text if optimizer.kind == "path" else ""
    rounds = list(_rounds(index, _Step(spot.function, spot.position, name), known, MAX_CALLERS))
    shown = written(optimizer)
    for found in rounds:
        if not found.cleared and not found.doubt:
            return _failure(found, spot, shown, "high" if known else "medium")
    doubts = [found.doubt for found in rounds if found.doubt and not found.cleared]
    if not rounds and _clears_itself(index, spot):
        return _finding(spot, "pass", f"{shown} is cleared by the function that steps it")
    if not rounds:
        return _finding(spot, "open", f"no loop with a backward() was found around {shown}.step()")
    if doubts:
        return _finding(spot, "open", doubts[0])
    return _finding(spot, "pass", f"{shown} is cleared: {rounds[0].cleared}")


def _clears_itself(index: Index, spot: Spot) -> bool:
    """A step method of a framework's loop: backward, step and clear stand side by side."""
    here = spot.function.events[spot.position].block
    effects = [
        e for e in index.effects.of(spot.function) if not is_sibling(spot.function.events[e.position].block, here)
    ]
    return {"backward", "clear"} <= {effect.kind for effect in effects}


def _rounds(index: Index, step: _Step, known: list[Thing], depth: int) -> Iterator[_Round]:
    """The innermost loop around the step that reaches backward, in each way the step is reached."""
    effects = index.effects.of(step.function)
    for loop in reversed(step.event.block.loops):
        inside = [e for e in effects if loop in step.function.events[e.position].block.loops]
        backward = next((e for e in inside if e.kind == "backward"), None)
        if backward is not None and not _goes_over(step.function.loops[loop], step.receiver):
            yield _judged(index, step, step.function.loops[loop], backward, inside, known)
            return
    for caller in index.callers(step.function) if depth else ():
        receiver = index.effects.renamed(step.receiver, step.function, caller)
        outer = _Step(caller.spot.function, caller.spot.position, receiver, (caller.spot, *step.trail))
        if caller.spot.function is not step.function:
            yield from _rounds(index, outer, known, depth - 1)


def _goes_over(loop: Loop, optimizer: str) -> bool:
    """Each round of the loop steps another optimizer: clearing once per round of the loop around it is right."""
    targets = loop.target.walk() if loop.target is not None else ()
    return bool(optimizer) and any(part.kind == "path" and part.text == optimizer for part in targets)


def _judged(
    index: Index, step: _Step, loop: Loop, backward: Effect, inside: list[Effect], known: list[Thing]
) -> _Round:
    for effect in inside:
        if effect.kind != "clear" or _is_elsewhere(effect, step):
            continue
        if not _is_other_optimizer(index, effect, step, known):
            return _Round(step, loop, backward, f"{written(effect.expr)} at {effect.spot.function.path}:{effect.line}")
    if any(_is_distributed(index, effect) for effect in inside if effect.kind == "backward"):
        return _Round(step, loop, backward, "gradients live in a distributed autograd context")
    if _is_made_in(step, loop, known):
        return _Round(step, loop, backward, "the optimizer is made anew in each round")
    return _Round(step, loop, backward, "", _doubt(index, step, loop))


def _is_made_in(step: _Step, loop: Loop, known: list[Thing]) -> bool:
    spots = [thing.spot for thing in known if isinstance(thing, Instance)]
    return any(
        spot is not None
        and spot.function is step.function
        and loop.id in spot.function.events[spot.position].block.loops
        for spot in spots
    )


def _is_elsewhere(effect: Effect, step: _Step) -> bool:
    """In another arm of an if than the step, so no round that steps also clears."""
    return is_sibling(step.function.events[effect.position].block, step.event.block)


def _is_other_optimizer(index: Index, effect: Effect, step: _Step, known: list[Thing]) -> bool:
    """Surely clears gradients that this step does not use."""
    if not effect.receiver or effect.expr.kind != "call" or effect.receiver == step.receiver:
        return False
    receiver = effect.expr.receiver
    things = index.objects.of(receiver, effect.spot) if receiver is not None else ()
    if not things or not known:
        return False
    if all(is_optimizer(index, thing) for thing in things):
        return not set(things) & set(known)
    modules = {path for thing in known if isinstance(thing, Instance) for path in modules_of_optimizer(thing)}
    if not modules or not all(isinstance(thing, Instance) for thing in things):
        return False
    return not any(_overlaps(effect.receiver, path) for path in modules)


def _overlaps(one: str, other: str) -> bool:
    """One path is, or may hold, the other; unwrapped and wrapped names of one module count as the same."""
    a, b = (path.removeprefix("self.").removesuffix(".module") for path in (one, other))
    return a == b or a.startswith(b + ".") or b.startswith(a + ".") or "." in a or "." in b


def _is_distributed(index: Index, effect: Effect) -> bool:
    """Gradients of torch.distributed.autograd are kept per context, fresh for every pass."""
    if "dist" in written(effect.expr).lower():
        return True
    block = effect.spot.function.events[effect.spot.position].block
    return any("autograd" in context.callee for context in block.contexts)


def _doubt(index: Index, step: _Step, loop: Loop) -> str:
    """Something in the loop that may clear without our seeing it."""
    name = step.receiver.rpartition(".")[2]
    for event in step.function.events:
        if loop.id not in event.block.loops or is_sibling(event.block, step.event.block):
            continue
        for call in event.calls:
            if index.effects.may_clear(call) and not _is_plain_clear(call):
                return f"{written(call)} may clear gradients at line {call.line}"
            handed = [part for part in call.parts[1:] for inner in part.walk() if inner.last == name != ""]
            if handed and call.last != "step" and not _is_harmless(index, call, Spot(step.function, 0)):
                return f"{written(call)} at line {call.line} is given the optimizer and was not resolved"
    return ""


def _is_plain_clear(call: Expr) -> bool:
    return call.last == "zero_grad"


def _is_harmless(index: Index, call: Expr, spot: Spot) -> bool:
    """Resolved to something that was followed, or that is known not to touch gradients."""
    if call.last in _HARMLESS:
        return True
    return bool(index.functions_named(call.last))


def _failure(found: _Round, spot: Spot, optimizer: str, confidence: Confidence) -> Finding:
    step, loop, backward = found.step, found.loop, found.backward
    path = step.function.path
    chain = (
        Link(path, loop.line, f"each round of this {loop.kind} loop"),
        Link(backward.spot.function.path, backward.line, f"{written(backward.expr)} adds to .grad"),
        *(Link(call.function.path, call.line, "reached through this call") for call in step.trail),
        Link(spot.function.path, spot.line, f"{optimizer}.step() uses the sum of all rounds so far"),
    )
    message = (
        f"{optimizer}.step() at {spot.function.path}:{spot.line} runs in the loop at {path}:{loop.line} together with "
        f"backward(), but nothing in that loop clears its gradients: expected {optimizer}.zero_grad() each round."
    )
    return replace(_finding(spot, "fail", message, chain), confidence=confidence)


def _finding(spot: Spot, outcome: Outcome, message: str, chain: tuple[Link, ...] = ()) -> Finding:
    return Finding(
        by=BY,
        outcome=outcome,
        message=message,
        severity=SEVERITY if outcome == "fail" else "note",
        confidence="high",
        family=FAMILY,
        path=spot.function.path,
        line=spot.line,
        chain=chain,
        next=NEXT if outcome == "fail" else "",
        claims=CLAIMS if outcome == "fail" else (),
        suspects=SUSPECTS if outcome == "fail" else (),
    )
