"""Options that are off unless somebody gives them: what stands behind one does not run by default."""

from __future__ import annotations

from collections.abc import Iterable

from trainsleuth.facts import Expr, Function, Index, around, needed_at, written

from ._given import is_given
from ._options import defaults, option_name
from ._parameters import given_or_left

_OFF = frozenset(["false", "0", "0.0", "0.", "none", "", "null"])
_NOT_NONE = frozenset(["none", "null"])


def left_off(index: Index, places: Iterable[tuple[str, int]]) -> tuple[str, ...]:
    """What must be so for the places to be reached and is not by default: args.amp, args.clip > 0, not cfg.ema. No script
    or configuration makes it so.
    """
    found = (
        written(part) if wanted else f"not {written(part)}"
        for path, line in places
        for part, wanted in needed_at(index, path, line)
        if (function := around(index, path, line)) is not None and _is_off(index, part, wanted, path, function)
    )
    return tuple(dict.fromkeys(found))


def _is_off(index: Index, test: Expr, wanted: bool, path: str, function: Function) -> bool:
    asked = test.parts[0] if test.kind == "compare" and len(test.parts) == 2 else test
    own = given_or_left(index, asked, function)
    option = option_name(asked) or (asked.text if own else "")
    if not option:
        return False
    values = defaults(index, option, path) | own
    truths = {_truth(test, value) for value in values}
    if truths != {not wanted}:
        return False
    word = test.parts[1].text if test.kind == "compare" and test.parts[1].kind == "string" and wanted else ""
    return not is_given(index, option, path, lambda value: _truth(test, value) in (wanted, None), word)


def _truth(test: Expr, value: str) -> bool | None:
    """What a test of an option is where the option has this value; None where that is not known."""
    if value == "?":
        return None
    if test.kind != "compare":
        return value.lower() not in _OFF
    other = test.parts[1]
    if test.text in ("==", "is", "!=", "is not"):
        same = _is_same(other, value)
        return None if same is None else same is (test.text in ("==", "is"))
    number, limit = _number(value), _number(other.text)
    if number is None or limit is None:
        return None
    return {">": number > limit, ">=": number >= limit, "<": number < limit, "<=": number <= limit}.get(test.text)


def _is_same(other: Expr, value: str) -> bool | None:
    if other.text == "None":
        return value.lower() in _NOT_NONE
    if other.kind == "string":
        return value == other.text
    if other.kind == "constant":
        return value.lower() == other.text.lower()
    number, limit = _number(value), _number(other.text)
    return None if number is None or limit is None else number == limit


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return 0.0 if text.lower() in _NOT_NONE else None
