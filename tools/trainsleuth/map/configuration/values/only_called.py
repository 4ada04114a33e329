"""Functions that nothing but their calls runs: what these give is all that a parameter may be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainsleuth.facts import Class, Event, Expr, Function

from ...program import Program

if TYPE_CHECKING:
    from ..truth import Truth

_ASKS = ("isinstance", "issubclass", "super", "type", "hasattr")  # given a class or a function, they run nothing
_HARMLESS = ("staticmethod", "classmethod", "no_grad", "inference_mode", "contextmanager", "dataclass", "jit", "script")
_BY_THE_WAY = "forward"  # of a network, which whoever calls the network runs


def is_only_called(truth: Truth, function: Function) -> bool:
    """Every call of `function` that the program reaches is seen: by its own name or, of a constructor, its class's.

    Not so of what a table holds, what code hands on or a decorator takes, and of methods that a language or a library calls.
    """
    kept = truth.only_called
    if function not in kept:
        kept[function] = _is_only_called(truth.program, function)
    return kept[function]


def _is_only_called(program: Program, function: Function) -> bool:
    owner = program.index.class_of(function)
    is_made = function.name == "__init__" and owner is not None
    if not is_made and (function.name.startswith("__") or function.name == _BY_THE_WAY):
        return False
    run: list[Class | Function] = [function]
    if is_made and owner is not None:
        run = [owner, *program.index.subclasses(owner)]
    if any(decorator.last not in _HARMLESS for one in run for decorator in one.decorators):
        return False
    listed = (one for table in program.tables for one in table.entries.values())
    chosen = (choice.target for choice in program.choices)
    if any(one in run for one in (*listed, *chosen)):
        return False
    names = frozenset(one.name for one in run)
    return not any(_hands_on(program, name) for name in names)


def _hands_on(program: Program, name: str) -> bool:
    """Reached code speaks of something called `name` without calling it."""
    holds = re.compile(rf"{re.escape(name)}\b(?!\s*\()".encode())
    reached = (one for one in program.index.functions_holding(holds) if program.is_reached(one))
    return any(_speaks_of(event, name) for one in reached for event in one.events)


def _speaks_of(event: Event, name: str) -> bool:
    parts = [part for expr in _expressions(event) for part in expr.walk()]
    spoken = {id(part) for part in parts if part.kind in ("path", "attr") and part.last == name}
    if not spoken:
        return False
    for call in parts:
        if call.kind == "call":
            asked = call.arguments if call.last in _ASKS else ()
            spoken -= {id(call.parts[0]), *(id(part) for one in asked for part in one.walk())}
    return bool(spoken)


def _expressions(event: Event) -> Iterator[Expr]:
    if event.value is not None:
        yield event.value
    yield from event.targets
    yield from event.calls
