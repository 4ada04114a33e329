"""How often a statement runs: for each batch or for each epoch, by the loops around it and around its callers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Event, Expr, Function, Loop, written

from ...drawing.statements import event_at
from ...program import Program

MAX_HOPS = 5  # from a function to its callers
_OVER = (
    ("epoch", re.compile(r"epoch", re.I)),
    ("batch", re.compile(r"loader|batch|\bdataset\b|train_iter|data_iter|prefetch", re.I)),
    ("step", re.compile(r"step|(?<![^\W_])its?(?![^\W_])|(?<![^\W_])iters?(?![^\W_])|iteration|update", re.I)),
)
_OF_EPOCH = re.compile(r"(?:per|each|every|in)_?epoch|(?:len|length)_?epoch|epoch_?(?:len|length|size)", re.I)
_HOOK = re.compile(r"(?:^|_)(?:on|after|before|post|pre)_\w*?(epoch|batch|step|iter|update)\w*$")


def pace(program: Program, function: Function, line: int, hops: int = MAX_HOPS) -> str:
    """ "batch", "step" or "epoch": what the innermost telling loop goes over; "" where none is seen or callers differ.

    "step that is due" where a test of an interval lets only some of them by, which the statement does not show itself.
    """
    event = event_at(function, line)
    told = _pace(program, function, line, hops)
    seldom = event is not None and (_is_left_before(function, event[1]) or (hops < MAX_HOPS and _is_under(event[1])))
    return f"{told}{_DUE}" if told and seldom and not told.endswith(_DUE) else told


_DUE = " that is due"
_INTERVAL = re.compile(r"%|(?:^|_|\.)every(?:_|$)|every_n|interval|freq|(?:^|_|\.)should_|milestone")


def _is_under(event: Event) -> bool:
    return any(_asks_interval(test) for branch in event.block.branches for test in branch.tests[branch.arm :])


def _is_left_before(function: Function, event: Event) -> bool:
    """if not self.every_n_iters(runner, interval): return, above it."""
    around = event.block.branches
    for one in function.events:
        if one.line >= event.line:
            break
        *outer, last = one.block.branches or (None,)
        if one.kind not in ("return", "continue") or last is None or last.test is None:
            continue
        if one.block.loops == event.block.loops[: len(one.block.loops)] and outer == list(around[: len(outer)]):
            if last.id not in {branch.id for branch in around} and _asks_interval(last.test):
                return True
    return False


def _asks_interval(test: Expr) -> bool:
    return _INTERVAL.search(written(test, 200)) is not None


def _pace(program: Program, function: Function, line: int, hops: int) -> str:
    event = event_at(function, line)
    inside = set(event[1].block.loops) if event is not None else set()
    for loop in sorted((one for one in function.loops if one.id in inside), key=lambda one: -one.line):
        if hops == MAX_HOPS and _only_steps(program, function, loop):
            return ""
        if (told := goes_over(loop)) or _holds_step(program, function, loop):
            return told or _of_step(program, function, loop)
    if hook := _HOOK.search(function.name):
        return "step" if hook[1] == "iter" else hook[1]
    if not hops:
        return ""
    above = {pace(program, caller, at, hops - 1) for caller, at in _callers(program, function)}
    return above.pop() if len(above) == 1 else ""


def is_over_batches(program: Program, function: Function, loop: Loop) -> bool:
    """By its names, else by the training step that it holds."""
    return (goes_over(loop) or _of_step(program, function, loop)) == "batch"


def _of_step(program: Program, function: Function, loop: Loop) -> str:
    """ "batch" where a loop holds backward() or the optimizer's step and goes over something; a count does not tell."""
    counts = loop.source is None or loop.kind == "while" or loop.source.last in _COUNTS
    return "batch" if not counts and _holds_step(program, function, loop) else ""


_COUNTS = ("range", "trange", "count")


def _holds_step(program: Program, function: Function, loop: Loop) -> bool:
    """In no further loop inside of it."""
    signs = program.training.signs.get(function, ())
    return any(one.role in _TRAINS and one.site.event.block.loops[-1:] == (loop.id,) for one in signs)


_TRAINS = ("backward", "optimizer step")


def _only_steps(program: Program, function: Function, loop: Loop) -> bool:
    """A schedule is wound forward: for _ in range(start_epoch * steps): scheduler.step()."""
    inside = [one for one in function.events if loop.id in one.block.loops and one.kind not in ("for", "while")]
    wound = {one.site.call.line for one in program.training.signs.get(function, ()) if one.role == "scheduler step"}
    return bool(inside) and all(one.line in wound for one in inside)


def _callers(program: Program, function: Function) -> Iterator[tuple[Function, int]]:
    return (one for one in program.callers(function) if one[0] is not function)


def goes_over(loop: Loop) -> str:
    """ "epoch", "batch" or "step", by the names that a loop binds and reads; "" where they do not tell.

    What goes over a table, loaders.items(), is none of them.
    """
    if loop.source is not None and loop.source.kind == "call" and loop.source.last in ("items", "values", "keys"):
        return ""
    target = written(loop.target) if loop.target is not None else ""
    source = written(loop.source) if loop.source is not None else ""
    for text in (_OF_EPOCH.sub("steps", target), _OF_EPOCH.sub("steps", source)):
        for word, pattern in _OVER:
            if pattern.search(text):
                return word
    return ""
