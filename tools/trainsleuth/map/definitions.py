"""What the places of a component lead to: the project's class or function that is called there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainsleuth.facts import Class, Function

from .common_names import COMMON_NAMES
from .program import Program
from .records import Place

STRONG = 0.45  # a weaker place is not followed
SHARE = 0.86  # of the score of the place that calls it
MAX_FOLLOWED = 48  # places of one component
_NO_PARTS = frozenset({"__init__", "__call__", "forward", "step", "train", "main", "run"})


def definitions(program: Program, places: Sequence[Place]) -> Iterator[Place]:
    """Where the classes and functions are defined that the best of `places` call."""
    for place in places[:MAX_FOLLOWED]:
        if place.score >= STRONG:
            for called in program.project_calls.get((place.path, place.line), ())[:2]:
                for target in called.targets:
                    if isinstance(target, Class) or (isinstance(target, Function) and _is_named(target)):
                        yield program.at_target(target, "defined", SHARE * place.score)


def _is_named(function: Function) -> bool:
    return function.name not in _NO_PARTS and function.name not in COMMON_NAMES and "<" not in function.name
