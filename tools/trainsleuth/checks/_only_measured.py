"""Tensors that are only looked at: no gradient comes back from a number."""

from __future__ import annotations

from trainsleuth.facts import Event, Expr, Function

_NUMBERS = ("item", "tolist", "numpy", "detach")


def is_only_measured(function: Function, position: int) -> bool:
    """What the statement sets, and all that the function makes of it, ends in numbers and comparisons."""
    names = _plain_names(function.events[position])
    if not names:
        return False
    before = 0
    while before != len(names):
        before = len(names)
        for at, event in enumerate(function.events):
            if at != position and _reads(event, names):
                more = _plain_names(event)
                if not more:
                    return False
                names |= more
    return any(_speaks_of(event.value, names) for at, event in enumerate(function.events) if at != position)


def _plain_names(event: Event) -> set[str]:
    """What it sets, where that is nothing but local names."""
    parts = [part for target in event.targets for part in (target.parts if target.kind == "tuple" else (target,))]
    names = {part.text for part in parts if part.kind == "path" and "." not in part.text}
    return names if len(names) == len(parts) else set()


def _reads(event: Event, names: set[str]) -> bool:
    """As a tensor that a gradient may come back from."""
    if event.value is None:
        return False
    looked_at = (
        one for one in event.value.walk() if one.kind == "compare" or (one.kind == "call" and one.last in _NUMBERS)
    )
    closed = {id(part) for one in looked_at for part in one.walk()}
    return any(id(part) not in closed and _is_of(part, names) for part in event.value.walk())


def _speaks_of(expr: Expr | None, names: set[str]) -> bool:
    return expr is not None and any(_is_of(part, names) for part in expr.walk())


def _is_of(part: Expr, names: set[str]) -> bool:
    return part.kind == "path" and part.text.partition(".")[0] in names
