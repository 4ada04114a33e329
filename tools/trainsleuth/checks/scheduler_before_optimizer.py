"""The learning-rate schedule steps before the optimizer.

Since torch 1.1 scheduler.step() sets the rate for the next optimizer.step(). Called first, it skips the first
value of the schedule: one epoch of warm-up or the whole schedule is shifted by one, and torch says so in a
single warning that is easily lost. Before, this was the right order: in code that is written for such a torch it
is a note, and so it is where the loop counts from 1 and StepLR or MultiStepLR names the epochs.

Fix: optimizer.step() first, then scheduler.step().

Cannot see: schedulers of one's own, schedulers that are not resolved to torch, a rate that is set by hand.

Bad:
    import torch

    def train(model, loader, epochs):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=30)
        for epoch in range(epochs):
            scheduler.step()
            for x in loader:
                optimizer.zero_grad()
                model(x).mean().backward()
                optimizer.step()

Bad (per batch, in a class):
    import torch
    from torch.optim.lr_scheduler import OneCycleLR

    class Trainer:
        def __init__(self, model, steps):
            self.model = model
            self.optimizer = torch.optim.AdamW(model.parameters())
            self.scheduler = OneCycleLR(self.optimizer, max_lr=0.1, total_steps=steps)

        def update(self, x):
            self.optimizer.zero_grad()
            self.model(x).mean().backward()
            self.optimizer.step()

        def fit(self, loader):
            for x in loader:
                self.scheduler.step()
                self.update(x)

Good:
    import torch

    def train(model, loader, epochs):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=30)
        for epoch in range(epochs):
            for x in loader:
                optimizer.zero_grad()
                model(x).mean().backward()
                optimizer.step()
            scheduler.step()
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import (
    Effect,
    Index,
    Site,
    Spot,
    Surrounding,
    is_sure,
    is_test,
    made_at,
    stepped,
    steps_optimizer,
    surroundings,
    written,
)
from trainsleuth.finding import Finding, Link

from ._accumulation import is_in_each_round
from ._schedules import Schedule, schedules, was_right_once
from ._verdicts import Verdicts

SAY = Verdicts(
    "scheduler-before-optimizer",
    "optimizer",
    "warning",
    "learning_rate",
    suspects=("step-order",),
    claims=("scheduler-order",),
)


def check(index: Index) -> Iterator[Finding]:
    for site in index.calls("step"):
        if not is_test(site.function.path):
            made = schedules(index, site)
            if made:
                yield _examined(index, site, made)


def _examined(index: Index, site: Site, made: list[Schedule]) -> Finding:
    path, line = site.function.path, site.call.line
    shown = written(site.call.receiver) if site.call.receiver is not None else "the scheduler"
    if site.call.parts[1:]:
        return SAY.passed(path, line, f"{shown}.step() is told where it stands")
    found = list(surroundings(index, Spot(site.function, site.position), site.call, "backward"))
    if any(target.last == "last_epoch" for around in found for e in around.function.events for target in e.targets):
        return SAY.open(path, line, "last_epoch is set by hand: the first step may lead to the first value")
    if any(one.call.keyword("last_epoch") is not None for one in made):
        return SAY.open(
            path, line, "the schedule is made with a last_epoch: the first step may lead to the first value"
        )
    reason = "" if found else f"no loop with a backward() was found around {shown}.step()"
    for around in found:
        steps = [(e, sure) for e in around.effects if (sure := steps_optimizer(index, e)) and _is_of(index, e, made)]
        late = [(e, sure) for e, sure in steps if around.is_after(e)]
        if not late or len(late) < len(steps) or _steps_earlier(index, around):
            continue
        if _is_behind_update(around) or _is_made_here(around, made):
            continue
        if _is_in_each_round(around):
            return _failure(around, *late[0], shown, path, line, _why_meant(index, around, made, late[0][0]))
        reason = f"{shown}.step() comes before the optimizer's, but a test decides in which rounds"
    if reason:
        return SAY.open(path, line, reason)
    return SAY.passed(path, line, f"{shown}.step() does not come before the optimizer's")


def _is_of(index: Index, step: Effect, made: list[Schedule]) -> bool:
    """The optimizer that steps may be the one that the schedule was made for."""
    stepping = stepped(index, step.expr, step.spot)
    things = made_at(index, stepping, step.spot) if stepping is not None else frozenset()
    for one in made:
        given = one.call.argument(0, "optimizer")
        own = made_at(index, given, one.spot) if given is not None else frozenset()
        if own & things:
            return True
        if given is not None and not (own and things) and stepping is not None and given.last == stepping.last:
            return True
    return False


def _steps_earlier(index: Index, around: Surrounding) -> bool:
    """The optimizer has stepped before the loop: an empty step, to please the schedule."""
    return any(
        steps_optimizer(index, e) and e.position < around.here.position and e not in around.effects
        for e in index.effects.of(around.function)
    )


def _is_in_each_round(around: Surrounding) -> bool:
    """No test decides on the schedule's step alone."""
    here, loop = around.here, around.loop
    own = around.function.events[here.position].block
    if own.loops[-1:] != ((loop.id,) if loop is not None else ()) or not is_in_each_round(around, here):
        return False
    return all(is_sure(here, e) for e in around.effects if e.kind == "step")


def _is_made_here(around: Surrounding, made: list[Schedule]) -> bool:
    """No loop, and the schedule is as old as the call: one step before all training, not one in each round."""
    return around.loop is None and any(one.spot.function is around.function for one in made)


def _is_behind_update(around: Surrounding) -> bool:
    """A backward comes first in the round: the step of the loss before is not seen."""
    return any(e.kind == "backward" and not around.is_after(e) and e is not around.here for e in around.effects)


def _why_meant(index: Index, around: Surrounding, made: list[Schedule], step: Effect) -> str:
    """Why this order may be right or meant, or may not matter; "" where nothing says so."""
    if _is_by_batch(around, step):
        return (
            "Both step once in a round, so this is one value of as many as there are steps: does the first one matter?"
        )
    if once := was_right_once(index, around.here.spot.function.path):
        return f"Before torch 1.1 this was the right order, and {once}: does it run on a later one?"
    if _counts_from_one(around) and all(one.name in ("StepLR", "MultiStepLR") for one in made):
        return "The loop counts from 1 and the rate falls in the rounds that the schedule names: is it meant so?"
    return ""


def _is_by_batch(around: Surrounding, step: Effect) -> bool:
    """The optimizer steps as often as the schedule: no loop stands between them."""
    events = around.function.events
    inner = (*step.trail[1:], step.spot) if step.trail else ()
    return events[step.position].block.loops == events[around.here.position].block.loops and not any(
        one.function.events[one.position].block.loops for one in inner
    )


def _counts_from_one(around: Surrounding) -> bool:
    """for epoch in range(1, epochs + 1)"""
    source = around.loop.source if around.loop is not None else None
    given = source.arguments if source is not None and source.kind == "call" and source.last in _RANGES else ()
    if len(given) != 2:
        return False
    ends = given[1].parts[1] if given[1].kind == "binary" and given[1].text == "+" else None
    return given[0].text == "1" or (ends is not None and ends.text == "1")


_RANGES = ("range", "trange")


def _failure(around: Surrounding, step: Effect, sure: str, shown: str, path: str, line: int, meant: str) -> Finding:
    at = step.spot.function.path
    chain = (
        Link(around.function.path, around.loop.line if around.loop else line, "in each round"),
        Link(path, line, f"{shown}.step() sets the rate first"),
        Link(at, step.line, f"{written(step.expr)} comes after it"),
    )
    message = (
        f"{shown}.step() at {path}:{line} comes before {written(step.expr)} at {at}:{step.line} in each round, so the "
        "first value of the schedule is skipped: expected the optimizer's step first."
    )
    if meant:
        return SAY.fail(path, line, f"{message} {meant}", chain, "low", "note")
    return SAY.fail(path, line, message, chain, "high" if sure == "sure" else "medium")
