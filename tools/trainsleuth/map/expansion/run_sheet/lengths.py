"""How many steps a run or an epoch has, where code works it out: total_steps = ceil(len(loader) / accum) * epochs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from trainsleuth.facts import Event

from ...configuration import Truth
from ...drawing.statements import statement
from ...drawing.wording import clean
from ...parts import source_lines
from ...program import Program
from ...programs.standing import off
from ..blocks.choosing import NEAR
from ..settings.values import values_in
from .tails import Tails

MOST = 2
WIDTH = 110
MOST_VALUES, VALUE = 3, 60  # of the names in it, characters of each
_STEPS = re.compile(
    r"_?(?:(?:max|total|num|n|number_of)_(?:train\w*_|update_|optim\w*_)?(?:steps?|iters?|iterations?|updates?)|"
    r"(?:train|training)_(?:steps|iters|iterations|updates)|t_total|\w*(?:steps|updates|iters|iterations)_per_epoch)"
)
_WORKED_OUT = ("ceil", "floor", "int", "round", "max", "min")
_WHERE = ("epoch", "step", "iteration", "global_step", "current_epoch")  # how far it is, not how far it goes
_ELSEWHERE = re.compile(r"(?:^|_)(?:val|valid\w*|eval\w*|test\w*|infer\w*|sampl\w*|generat\w*|profil\w*)(?:_|$)", re.I)


def worked_out(program: Program, truth: Truth, tails: Tails) -> Iterator[tuple[str, dict[str, Any]]]:
    """The statements nearest to the frame of the program, each name once."""
    told: set[str] = set()
    found = (
        (function, event)
        for function, weight in program.functions()
        if weight > NEAR and not _ELSEWHERE.search(function.name)
        for event in function.events
        if _is_length(event) and not off(program, truth, function, event.line)
    )
    new = (one for one in found if one[1].targets[0].last not in told)
    for function, event in islice(new, MOST):
        told.add(event.targets[0].last)
        text = statement(source_lines(program.index, function.path), event.line, width=WIDTH)
        item = {"path": function.path, "line": event.line, "text": text, "keys": []}
        known = islice(values_in(program, truth, function, event, event.line), MOST_VALUES)
        worth = "".join(f" · {name.rpartition('.')[2]}: {clean(tails.within(value), VALUE)}" for name, value in known)
        yield f"computed: {tails.of(function.path)}:{event.line} {text}{worth}", item


def _is_length(event: Event) -> bool:
    """Not what counts: steps = steps + 1."""
    value, names = event.value, [target.text for target in event.targets]
    if event.kind != "assign" or value is None or not any(_STEPS.fullmatch(target.last) for target in event.targets):
        return False
    worked = value.kind == "binary" or (value.kind == "call" and value.last in _WORKED_OUT)
    parts = list(value.walk()) if worked else ()
    divides = any(part.kind == "binary" and part.text in ("/", "//", "*") for part in parts)
    return divides and not any(part.kind == "path" and (part.text in names or part.last in _WHERE) for part in parts)
