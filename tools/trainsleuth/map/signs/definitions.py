"""What the places of a component lead to: the project's class or function that is called there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trainsleuth.facts import Class, Function

from ..program import Program
from ..records import Place

STRONG = 0.38  # a weaker place is not followed
SHARE = 0.86  # of the score of the place that calls it
MAX_FOLLOWED = 48  # places of one component
_NO_PARTS = frozenset(
    {"__init__", "__call__", "forward", "step", "train", "main", "run", "to", "update", "get", "items"}
)


def definitions(program: Program, component: str, places: Sequence[Place]) -> Iterator[Place]:
    """Where the classes and functions are defined that the best of `places` call, and the classes that they stand in
    when these are called like the component."""
    yield from _classes(program, component, places)
    for place in places[:MAX_FOLLOWED]:
        if place.score >= STRONG:
            for called in program.project_calls.get((place.path, place.line), ())[:2]:
                for target in called.targets:
                    if isinstance(target, Class) or (isinstance(target, Function) and is_named(target)):
                        yield program.at_target(target, "defined", SHARE * place.score)


_CALLED = {
    "data": r"data|sampler|buffer|memory|collat|reader|loader",
    "loss": r"loss|criteri|objective",
    "optimizer_scheduler": r"optim|sched|warmup",
    "logging": r"log|writer|track|meter|message|recorder|progress|report",
    "checkpointing": r"checkpoint|ckpt|saver|snapshot",
    "evaluation": r"eval|metric|valid|scor",
}


def _classes(program: Program, component: str, places: Sequence[Place]) -> Iterator[Place]:
    if component not in _CALLED:
        return
    pattern = re.compile(_CALLED[component], re.I)
    for place in places[:MAX_FOLLOWED]:
        file = program.index.files.get(place.path)
        for cls in file.classes.values() if file is not None and place.score >= STRONG else ():
            if cls.line <= place.line <= cls.end_line and pattern.search(cls.name):
                yield program.at_target(cls, "class", SHARE * place.score)


def is_named(function: Function) -> bool:
    return function.name not in _NO_PARTS and "<" not in function.name
