"""Tables that a call hands to a function which takes one entry out: made(KINDS, "small"), where it calls kinds[kind]()."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from trainsleuth.facts import Expr, Function, bindings

from ..recipe.branches import Settled, value_of

if TYPE_CHECKING:
    from .values import Values


def is_taken_from(values: Values, called: Iterable[Function], call: Expr, table: Expr) -> bool:
    """Every function that the call may run does nothing with `table` but to take the entry that settings name: what else
    is in it does not run.
    """
    found = [_takes_one(values, one, _parameter(one, call, table)) for one in called]
    return bool(found) and all(found)


def _parameter(function: Function, call: Expr, given: Expr) -> str:
    names = [one.name for one in function.parameters if one.name != function.self_name and not one.kind]
    return next((name for place, name in enumerate(names) if call.argument(place, name) is given), "")


def _takes_one(values: Values, function: Function, name: str) -> bool:
    if not name or name in bindings(function):
        return False
    settled = Settled(values.known.settings, values.index, function)
    taken = [one for event in function.events if event.value is not None for one in _uses(event.value, name)]
    asked = [one for one in taken if one.kind == "index"]
    return bool(asked) and len(asked) == len(taken) and all(_is_found(values, settled, one) for one in asked)


def _uses(expr: Expr, name: str) -> Iterator[Expr]:
    """Where something is taken out of what the name holds, and the name itself where anything else is done with it; nothing
    where only its keys are asked for: kind in kinds.
    """
    if expr.kind == "path" and expr.text.partition(".")[0] == name:
        yield expr
    is_test = expr.kind == "compare" and expr.text in ("in", "not in")
    is_index = expr.kind == "index" and len(expr.parts) == 2 and expr.parts[0].text == name
    if is_index:
        yield expr
    for part in expr.parts:
        if not ((is_test or is_index) and part.kind == "path" and part.text == name):
            yield from _uses(part, name)


def _is_found(values: Values, settled: Settled, asked: Expr) -> bool:
    return value_of(asked.parts[1], settled) is not None and bool(values.callables(settled.function, asked))
