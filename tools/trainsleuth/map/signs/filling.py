"""What fills the room that stronger signs leave: functions beside what was found, and statements inside of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, islice

from trainsleuth.facts import Function

from ..program import Program
from ..records import BESIDE, WITHIN, Place
from .definitions import MAX_FOLLOWED, STRONG, is_named

OF_FILE = 0.42  # of the score of the best place of the file
LONG = 40  # lines of a function that surely says something of its own
_HOMES = {
    "data": re.compile(r"data|loader|batch|transform|augment|sampler|buffer|env|feeder|reader|pipeline", re.I),
    "evaluation": re.compile(r"eval|metric|test|valid|infer|sampl|demo|generat|score", re.I),
    "loss": re.compile(r"loss|criteri|reward|objective", re.I),
    "model": re.compile(r"model|net|arch|backbone|module|layer|encoder|decoder|policy|head", re.I),
}


def beside(program: Program, component: str, places: Sequence[Place]) -> Iterator[Place]:
    """What the program reaches of files that are called like the component and hold one of its places, and of classes
    that are one of its places; long functions first.
    """
    if component not in _HOMES:
        return
    best: dict[str, float] = {}
    strong = [place for place in places[:MAX_FOLLOWED] if place.score >= STRONG]
    for place in strong:
        best[place.path] = max(best.get(place.path, 0.0), place.score)
    found = {(place.path, place.line) for place in strong}
    for path, score in best.items():
        file = program.index.files.get(path)
        is_home = _HOMES[component].search(path) is not None
        if file is None:
            continue
        for function in file.functions.values():
            owner = file.classes.get(function.owner)
            if not is_home and (owner is None or (path, owner.line) not in found):
                continue
            if (program.is_reached(function) or not program.is_loaded(path)) and is_named(function):
                length = min(1.0, (function.end_line - function.line) / LONG)
                yield program.at(function, function.line, BESIDE, OF_FILE * score * (0.5 + 0.5 * length))


OF_FUNCTION, STEPS, APART = 0.34, 10, 9  # share of its score, statements of it, lines for each
_DOES = {"for": 3, "while": 3, "return": 2, "if": 1, "assign": 1, "expression": 1}  # what says more, by kind
_WORK = ("__init__", "forward", "__call__", "__getitem__")  # of a class that is a place of the component


def within(program: Program, component: str, places: Sequence[Place]) -> Iterator[Place]:
    """Statements of the functions that are the best of `places`, some lines apart: what is done in them, one thing after the other."""
    if component == "entry_point":  # all of its file may stand there, see `shared`
        return
    for place in places[:MAX_FOLLOWED]:
        file = program.index.files.get(place.path)
        if file is None or place.score < STRONG:
            continue
        for function in file.functions.values():
            owner = file.classes.get(function.owner)
            is_work = function.name in _WORK and owner is not None and owner.line == place.line
            if function.line == place.line or is_work:
                yield from _steps(program, function, OF_FUNCTION * place.score)


def _steps(program: Program, function: Function, score: float) -> Iterator[Place]:
    """Of every few lines the statement that says most."""
    told = [event for event in function.events if event.kind in _DOES and event.line - function.line >= APART]
    for _, near in islice(groupby(told, lambda event: (event.line - function.line) // APART), STEPS):
        best = max(near, key=lambda event: (_DOES[event.kind], len(event.calls)))
        yield program.at(function, best.line, WITHIN, score)
