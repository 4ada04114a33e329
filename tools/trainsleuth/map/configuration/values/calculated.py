"""Numbers that a file of settings works out from others: lr=0.002 * ratio, below ratio = 4 / 5."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from trainsleuth.facts import Expr

_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv, "%": operator.mod, "**": operator.pow}  # fmt: skip
_MOST = 1e15
_MOST_POWER = 64
_DIGITS = 6


def calculated(expr: Expr, numbers: Mapping[str, float]) -> Expr:
    """The expression with what is worth a number in its place, also inside of lists."""
    if expr.kind == "binary":
        worth = number_of(expr, numbers)
        return Expr("number", _text(worth), (), expr.line) if worth is not None else expr
    if expr.kind in ("list", "tuple"):
        return expr._replace(parts=tuple(_item(part, numbers) for part in expr.parts))
    return expr


def number_of(expr: Expr, numbers: Mapping[str, float]) -> float | None:
    if expr.kind == "number":
        try:
            worth = ast.literal_eval(expr.text)
        except (ValueError, SyntaxError):
            return None
        return worth if isinstance(worth, int | float) else None
    if expr.kind == "path":
        return numbers.get(expr.text)
    if expr.kind == "unary" and expr.text == "-":
        inner = number_of(expr.parts[0], numbers)
        return None if inner is None else -inner
    if expr.kind != "binary" or expr.text not in _OPERATORS or len(expr.parts) != 2:
        return None
    left, right = (number_of(part, numbers) for part in expr.parts)
    if left is None or right is None or max(abs(left), abs(right)) > _MOST:
        return None
    if expr.text == "**" and abs(right) > _MOST_POWER:
        return None
    try:
        worth = _OPERATORS[expr.text](left, right)
    except (ArithmeticError, ValueError):
        return None
    return worth if isinstance(worth, int | float) else None


def _item(part: Expr, numbers: Mapping[str, float]) -> Expr:
    worth = numbers.get(part.text) if part.kind == "path" else None
    return Expr("number", _text(worth), (), part.line) if worth is not None else calculated(part, numbers)


def _text(worth: float) -> str:
    return str(worth) if isinstance(worth, int) else repr(float(f"{worth:.{_DIGITS}g}"))
