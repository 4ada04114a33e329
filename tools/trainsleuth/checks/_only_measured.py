"""Tensors that are only looked at: no gradient comes back from a number."""

from __future__ import annotations

from trainsleuth.facts import Event, Expr, Function

_NUMBERS = ("item", "tolist", "numpy", "detach")
_PLACES = ("argsort", "argmax", "argmin")


def is_only_measured(function: Function, position: int, call: Expr | None = None) -> bool:
    """What the statement sets, and all that the function makes of it, ends in numbers and comparisons; or `call`, a part
    of the statement, does so in it.
    """
    if call is not None and call in _looked_at(function.events[position]):
        return True
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
    closed = _looked_at(event)
    return event.value is not None and any(part not in closed and _is_of(part, names) for part in event.value.walk())


def _looked_at(event: Event) -> set[Expr]:
    """Parts of its value that are made numbers, or only put into order: loss.item(), loss.data, torch.argsort(losses)."""
    ends = (
        one
        for one in (event.value.walk() if event.value is not None else ())
        if one.kind == "compare" or (one.kind == "call" and one.last in (*_NUMBERS, *_PLACES)) or _is_data(one)
    )
    return {part for one in ends for part in one.walk()}


def _is_data(expr: Expr) -> bool:
    """loss.data, and not a variable of that name."""
    return (expr.kind == "attr" and expr.text == "data") or (expr.kind == "path" and expr.text.endswith(".data"))


def _speaks_of(expr: Expr | None, names: set[str]) -> bool:
    return expr is not None and any(_is_of(part, names) for part in expr.walk())


def _is_of(part: Expr, names: set[str]) -> bool:
    return part.kind == "path" and part.text.partition(".")[0] in names
