"""How often a statement runs: for each batch or for each epoch, by the loops around it and around its callers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Function, Loop, written

from ..program import Program
from ..statements import event_at

MAX_HOPS = 5  # from a function to its callers
_OVER = (
    ("epoch", re.compile(r"epoch", re.I)),
    ("batch", re.compile(r"loader|batch|\bdataset\b|train_iter|data_iter|prefetch", re.I)),
    ("step", re.compile(r"step|\bit\b|\biter\b|iteration|update", re.I)),
)
_HOOK = re.compile(r"(?:^|_)(?:on|after|before|post|pre)_\w*?(epoch|batch|step|iter|update)\w*$")


def pace(program: Program, function: Function, line: int, hops: int = MAX_HOPS) -> str:
    """ "batch", "step" or "epoch": what the innermost telling loop goes over; "" where none is seen or callers differ."""
    event = event_at(function, line)
    inside = set(event[1].block.loops) if event is not None else set()
    for loop in sorted((one for one in function.loops if one.id in inside), key=lambda one: -one.line):
        if told := goes_over(loop):
            return told
    if hook := _HOOK.search(function.name):
        return "step" if hook[1] == "iter" else hook[1]
    if not hops:
        return ""
    above = {pace(program, caller, at, hops - 1) for caller, at in _callers(program, function)}
    return above.pop() if len(above) == 1 else ""


def _callers(program: Program, function: Function) -> Iterator[tuple[Function, int]]:
    return (one for one in program.callers(function) if one[0] is not function)


def goes_over(loop: Loop) -> str:
    """ "epoch", "batch" or "step", by the names that a loop binds and reads; "" where they do not tell."""
    target = written(loop.target) if loop.target is not None else ""
    source = written(loop.source) if loop.source is not None else ""
    for text in (target, source):
        for word, pattern in _OVER:
            if pattern.search(text):
                return word
    return ""
