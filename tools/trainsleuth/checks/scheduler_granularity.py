"""The learning-rate schedule is counted in epochs and stepped per batch, or the reverse.

A schedule only counts calls of step(). Milestones given in epochs are used up after as many batches when step()
is called for each batch: the rate is at its end almost from the start. With step_size so given it goes on to decay
every few batches, with T_max it swings down and up again all the time. Given in batches and stepped per epoch, the
schedule hardly moves: a warm-up never ends. One that is as long as a single epoch is at zero when the second begins, and nothing
is learned from there on.

Fix: one step() per unit that the schedule is written in, and as many units as the whole training has.

Cannot see: numbers that say nothing about their unit, schedules built from computed values, trainers that step
by themselves.

Bad:
    import torch

    def train(model, loader, args):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)
        for epoch in range(args.epochs):
            for x in loader:
                optimizer.zero_grad()
                model(x).mean().backward()
                optimizer.step()
                scheduler.step()

Bad (counted in batches, stepped per epoch):
    import torch
    from torch.optim.lr_scheduler import OneCycleLR

    def fit(model, loader, epochs):
        optimizer = torch.optim.AdamW(model.parameters())
        total = len(loader) * epochs
        schedule = OneCycleLR(optimizer, max_lr=1e-3, total_steps=total)
        for _ in range(epochs):
            for x in loader:
                optimizer.zero_grad()
                model(x).mean().backward()
                optimizer.step()
            schedule.step()

Bad (over when the first epoch is):
    import torch
    from transformers import get_linear_schedule_with_warmup

    def finetune(model, loader, args):
        optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
        scheduler = get_linear_schedule_with_warmup(optimizer, 100, num_training_steps=len(loader))
        for epoch in range(args.epochs):
            for batch in loader:
                optimizer.zero_grad()
                model(**batch).loss.backward()
                optimizer.step()
                scheduler.step()

Good:
    import torch

    def train(model, loader, args):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        steps = args.epochs * len(loader)
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=steps)
        for epoch in range(args.epochs):
            for x in loader:
                optimizer.zero_grad()
                model(x).mean().backward()
                optimizer.step()
                scheduler.step()
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import (
    Block,
    Effect,
    Expr,
    Function,
    Index,
    Loop,
    Site,
    Spot,
    Surrounding,
    encloses,
    header_of,
    is_test,
    makers,
    steps_optimizer,
    surroundings,
    written,
)
from trainsleuth.facts.data.loaders import loaders_gone_over
from trainsleuth.facts.data.made_anew import is_made_anew
from trainsleuth.facts.tracing.numbers import whole_number
from trainsleuth.finding import Finding, Link

from ._schedules import Schedule, schedules
from ._units import spelled_out, unit_of
from ._verdicts import Verdicts

SAY = Verdicts(
    "scheduler-granularity",
    "optimizer",
    "warning",
    "learning_rate",
    suspects=("learning-rate-zero-or-tiny",),
    claims=("lr-decay-defaults",),
    forms={
        "written": "as long as epochs times the loader of the loop below, in one function, and stepped per epoch",
        "one-epoch": "falls to zero over the batches of one epoch, and is stepped in several",
        "other": "counted elsewhere, by names, or in epochs",
    },
    sure=("written", "one-epoch"),
)
# the argument that says how long, by class: its place and its name
_LENGTH = {
    "CosineAnnealingLR": (1, "T_max"),
    "MultiStepLR": (1, "milestones"),
    "StepLR": (1, "step_size"),
    "OneCycleLR": (2, "total_steps"),
    "PolynomialLR": (1, "total_iters"),
    "LinearLR": (3, "total_iters"),
    "get_linear_schedule_with_warmup": (2, "num_training_steps"),
    "get_cosine_schedule_with_warmup": (2, "num_training_steps"),
    "get_polynomial_decay_schedule_with_warmup": (2, "num_training_steps"),
    "get_cosine_with_hard_restarts_schedule_with_warmup": (2, "num_training_steps"),
}
# what becomes of those that do not end, stepped per batch
_TOO_FAST = {
    "CosineAnnealingLR": "is at its lowest after as many batches and then rises and falls again and again",
    "StepLR": "decays each time that as many batches have passed",
}
_END_AT_ZERO = (
    "PolynomialLR",
    "get_linear_schedule_with_warmup",
    "get_cosine_schedule_with_warmup",
    "get_polynomial_decay_schedule_with_warmup",
)
_LOADER = re.compile(r"load|batch|data|iter|step|train_dl|(^|_)dl($|_)", re.IGNORECASE)
_EPOCH = re.compile(r"epoch", re.IGNORECASE)


def check(index: Index) -> Iterator[Finding]:
    for site in index.calls("step"):
        if not is_test(site.function.path) and not site.call.parts[1:]:
            for made in schedules(index, site)[:1]:
                yield _examined(index, site, made)


def _examined(index: Index, site: Site, made: Schedule) -> Finding:
    path, line = site.function.path, site.call.line
    shown = written(site.call.receiver) if site.call.receiver is not None else "the scheduler"
    length = _length(made)
    if length is None:
        return SAY.open(path, line, f"how long {made.name} is was not found")
    if _is_counted(site, made, length):
        return SAY.passed(path, line, f"{made.name} is as long as the loops around its step: {written(length)}")
    stepped = {
        _stepped(index, around)
        for around in surroundings(index, Spot(site.function, site.position), site.call, "backward")
    }
    if stepped == {"batch"} or stepped == {"epoch"}:
        per = stepped.pop()
        loops = _epoch_loops(index, site)
        if per == "batch" and _is_over_early(index, made, length, loops):
            return _over_early(made, length, shown, path, line)
        unit = unit_of(index, length, made.spot, loops)
        if unit and unit != per:
            form = "written" if per == "epoch" and _is_written_out(index, site, made, length) else "other"
            return _failure(made, length, unit, per, shown, path, line, form)
        if unit:
            return SAY.passed(path, line, f"{made.name} is counted in {unit}s and stepped per {per}")
        return SAY.open(path, line, f"whether {written(length)} counts epochs or batches is not resolved")
    return SAY.open(path, line, f"whether {shown}.step() runs per batch or per epoch is not resolved")


def _length(made: Schedule) -> Expr | None:
    if made.name not in _LENGTH:
        return None
    place, name = _LENGTH[made.name]
    if made.name == "OneCycleLR" and (given := made.call.keyword("steps_per_epoch")) is not None:
        return given
    return made.call.argument(place, name)


def _is_counted(site: Site, made: Schedule, length: Expr) -> bool:
    """iterations * epochs, stepped in a loop over each of the two."""
    loops = [site.function.loops[one].source for one in site.event.block.loops]
    ends = {written(one.arguments[-1]) for one in loops if one is not None and one.last == "range" and one.arguments}
    factors, waiting = [], [length]
    while waiting:
        one = waiting.pop()
        if one.kind == "binary" and one.text == "*":
            waiting += one.parts
        else:
            factors.append(written(one))
    return made.spot.function is site.function and len(factors) > 1 and ends.issuperset(factors)


def _is_written_out(index: Index, site: Site, made: Schedule, length: Expr) -> bool:
    """len(loader) * epochs, where a loop below the one that steps the schedule goes over this loader."""
    if made.spot.function is not site.function:
        return False
    own = site.event.block.loops
    below = [loop.source for loop in site.function.loops if loop.id not in own and loop.source is not None]
    gone_over = {part.text for source in below for part in source.walk() if part.kind == "path"}
    parts = spelled_out(index, length, made.spot, 5)
    counted = {one.arguments[0].text for one in parts if one.kind == "call" and one.last == "len" and one.arguments}
    return any(one.kind == "binary" and one.text == "*" for one in parts) and not counted.isdisjoint(gone_over)


def _stepped(index: Index, around: Surrounding) -> str:
    """How often: "batch" in the loop over batches, "epoch" in the loop around it, "" when neither is sure."""
    here = around.function.events[around.here.position].block
    steps = [e for e in around.effects if steps_optimizer(index, e)]
    if around.loop is None or not steps or any(True for _ in _own_guards(around)):
        return ""
    if here.loops[-1:] != (around.loop.id,) or _ends_at_once(around, here):
        return ""
    deeper = [e for e in steps if _loops_below(index, around, e)]
    if len(deeper) == len(steps):
        return "epoch"
    return "batch" if not deeper and _is_batch_loop(index, around) else ""


def _ends_at_once(around: Surrounding, here: Block) -> bool:
    """A break that nothing guards ends the loop after its first round."""
    return any(event.kind == "break" and encloses(event.block, here) for event in around.function.events)


def _own_guards(around: Surrounding) -> Iterator[Expr]:
    """Tests inside the loop that decide on the schedule's step alone."""
    assert around.loop is not None
    header = around.function.events[header_of(around.function, around.loop)]
    outside = {id(branch) for branch in header.block.branches}
    event = around.function.events[around.here.position]
    shared = [set(around.function.events[e.position].block.branches) for e in around.effects if e.kind == "backward"]
    for branch in event.block.branches:
        if id(branch) not in outside and not all(branch in one for one in shared):
            yield branch.tests[0]


def _loops_below(index: Index, around: Surrounding, effect: Effect) -> bool:
    """The effect runs in a further loop inside the loop: in this function, or in one that is called."""
    assert around.loop is not None
    own = around.function.events[effect.position].block.loops
    inner = own[own.index(around.loop.id) + 1 :] if around.loop.id in own else ()
    if inner and _goes_over_batches(index, around.function, around.function.loops[inner[-1]]):
        return True
    deeper = (*effect.trail[1:], effect.spot) if effect.trail else ()
    return any(
        _goes_over_batches(index, spot.function, spot.function.loops[place])
        for spot in deeper
        for place in spot.function.events[spot.position].block.loops
    )


def _goes_over_batches(index: Index, function: Function, loop: Loop) -> bool:
    """No loop over a few things of one batch: optimizers, critic steps, chunks."""
    if loop.source is None:
        return False
    spot = Spot(function, header_of(function, loop))
    return (
        _LOADER.search(written(loop.source)) is not None
        or any(True for _ in loaders_gone_over(index, loop.source, spot))
        or _is_round_of_epoch(index, spot, loop)
    )


def _is_round_of_epoch(index: Index, header: Spot, loop: Loop) -> bool:
    """Inside of a loop over epochs it goes over something, and each round holds backward() and the step."""
    function = header.function
    outer = [function.loops[place] for place in function.events[header.position].block.loops if place != loop.id]
    if not any(_EPOCH.search(_names(one)) for one in outer) or loop.source is None or loop.source.last == "range":
        return False
    inside = [e for e in index.effects.of(function) if loop.id in function.events[e.position].block.loops]
    bound = {part.text for part in loop.target.walk() if part.kind == "path"} if loop.target is not None else set()
    stepped = {written(e.expr.receiver) for e in inside if e.kind == "step" and e.expr.receiver is not None}
    return {"backward", "step"} <= {e.kind for e in inside} and bound.isdisjoint(stepped)


def _names(loop: Loop) -> str:
    return " ".join(written(part) for part in (loop.target, loop.source) if part is not None)


def _is_batch_loop(index: Index, around: Surrounding) -> bool:
    """The loop goes over a loader, not over epochs."""
    assert around.loop is not None
    return not _EPOCH.search(_names(around.loop)) and _goes_over_batches(index, around.function, around.loop)


def _epoch_loops(index: Index, site: Site) -> list[tuple[Expr, Spot]]:
    """What the loops over epochs count up to, in this function and around its callers."""
    found: list[tuple[Expr, Spot]] = []
    waiting = [site.function]
    seen: set[Function] = set()
    while waiting and len(seen) < 6:
        function = waiting.pop()
        seen.add(function)
        for loop in function.loops:
            if loop.source is not None and _EPOCH.search(_names(loop)) and loop.source.last in ("range", "trange"):
                end = loop.source.arguments[1 if len(loop.source.arguments) > 1 else 0]
                found.append((end, Spot(function, header_of(function, loop))))
        waiting += [caller.spot.function for caller in index.callers(function) if caller.spot.function not in seen]
    return found


def _is_over_early(index: Index, made: Schedule, length: Expr, loops: list[tuple[Expr, Spot]]) -> bool:
    """Made once, as long as one epoch, and at zero behind it, where the loops over epochs go on."""
    if made.name not in _END_AT_ZERO or not loops or any(whole_number(index, end, at) == 1 for end, at in loops):
        return False
    counted = [one for one, _ in makers(index, length, made.spot)]
    if len(counted) != 1 or not _is_one_epoch(counted[0]):
        return False
    return not is_made_anew(index, made.spot.function, made.spot.position)


def _is_one_epoch(length: Expr) -> bool:
    """len(loader), or a part of it: len(loader) // accumulate."""
    parts = list(length.walk())
    counts = [one for one in parts if one.kind == "call" and one.last == "len" and one.arguments]
    is_part = all(one.text in ("/", "//") for one in parts if one.kind == "binary")
    is_plain = all(one.last in ("len", "int", "ceil") for one in parts if one.kind == "call")
    return len(counts) == 1 and is_part and is_plain and _LOADER.search(written(counts[0].arguments[0])) is not None


def _over_early(made: Schedule, length: Expr, shown: str, path: str, line: int) -> Finding:
    at = made.spot.function.path
    chain = (
        Link(at, made.call.line, f"{made.name} falls to zero over one epoch: {written(length)}"),
        Link(path, line, f"{shown}.step() is called once per batch, in every epoch"),
    )
    message = (
        f"{made.name} at {at}:{made.call.line} is as long as one epoch ({written(length)}), and {shown}.step() at {path}:{line} runs in "
        "each of several: the rate is zero when the second begins, and nothing is learned from there on; expected the length times the number "
        "of epochs."
    )
    return SAY.fail(path, line, message, chain, "high", form="one-epoch")


def _failure(made: Schedule, length: Expr, unit: str, per: str, shown: str, path: str, line: int, form: str) -> Finding:
    at = made.spot.function.path
    chain = (
        Link(at, made.call.line, f"{made.name} counts {unit}s: {written(length)}"),
        Link(path, line, f"{shown}.step() is called once per {per}"),
    )
    effect = _TOO_FAST.get(made.name, "is used up after as many batches") if unit == "epoch" else "hardly moves"
    message = (
        f"{shown}.step() at {path}:{line} runs once per {per}, but {made.name} at {at}:{made.call.line} counts "
        f"{unit}s ({written(length)}), so the schedule {effect}: expected one step per {unit}."
    )
    return SAY.fail(path, line, message, chain, "medium", form=form)
