"""Expressions that can be exactly zero because nothing but squares is added up."""

from __future__ import annotations

from trainsleuth.facts import Expr, Index, Spot, makers, subject, written

_SQUARES = ("pow", "square")
_SUMS = ("sum", "mean", "sum_", "view", "squeeze")
_SPREADS = ("var",)


def is_sum_of_squares(index: Index, expr: Expr, spot: Spot, depth: int = 4) -> bool:
    if not depth:
        return False
    if expr.kind == "call" and expr.last in _SPREADS:
        return True
    if expr.kind == "call" and expr.last in _SUMS:
        given = subject(index, expr, spot)
        return given is not None and is_sum_of_squares(index, given, spot, depth - 1)
    if expr.kind == "call":
        return expr.last in _SQUARES and (expr.last == "square" or _power(expr) in ("2", "2.0"))
    if expr.kind == "binary" and len(expr.parts) == 2:
        left, right = expr.parts
        if expr.text == "**":
            return right.text in ("2", "2.0") and not _is_number(index, left, spot)
        if expr.text == "*":
            return written(left) == written(right) and not _is_number(index, left, spot)
        return expr.text == "+" and all(is_sum_of_squares(index, part, spot, depth - 1) for part in expr.parts)
    if expr.kind == "path":
        found = list(index.flow.origins(expr.text, spot))
        return bool(found) and all(
            o.kind == "assign" and o.expr is not None and is_sum_of_squares(index, o.expr, o.spot, depth - 1)
            for o in found
        )
    return False


def _is_number(index: Index, expr: Expr, spot: Spot) -> bool:
    """eps of eps**2: a number wherever it comes from, and so no tensor that could be zero."""
    made = [one for one, _ in makers(index, expr, spot)] if expr.kind == "path" else [expr]
    return bool(made) and all(one.kind == "number" for one in made)


def _power(call: Expr) -> str:
    exponent = call.arguments[-1] if call.arguments else None
    return exponent.text if exponent is not None else ""
