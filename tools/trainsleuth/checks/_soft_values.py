"""Soft values of an actor-critic: min(Q) - alpha * log pi for the critic, alpha * log pi - min(Q) for the actor."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Expr, Function, factors

from ._policy import NEGATED

LOG_OF_POLICY = re.compile(rb"log_?(?:pi|probs?|p)\b")
_LOG = re.compile(r"log_?(?:pi|probs?|p)(?:$|_|\d)", re.IGNORECASE)
_WEIGHT = re.compile(r"(?:^|_)alpha$|temperature$|ent(?:ropy)?_?coef", re.IGNORECASE)
_VALUE = re.compile(r"(?:^|_)(?:q|qf)\d?(?:$|_)|^q_?\w*(?:value|target|next|new|pi|min)|min_?q", re.IGNORECASE)
_KEEPS = ("detach", "squeeze", "unsqueeze", "view", "reshape", "mean", "sum", "item")


def soft_values(function: Function) -> Iterator[tuple[Expr, bool]]:
    """(sum of a value and alpha * log pi, do both come in with the same sign?)"""
    for event in function.events:
        for part in event.value.walk() if event.value is not None else ():
            if part.kind == "binary" and part.text in ("+", "-") and len(part.parts) == 2:
                left, right = part.parts
                behind = 1 if part.text == "+" else -1
                for value, log in ((left, right), (right, left)):
                    if (sign := _sign_of_log(log)) and (of_value := _sign_of_value(value)):
                        yield part, sign * of_value * behind > 0


def _sign_of_log(expr: Expr) -> int:
    """Of alpha * log_pi; 0 of anything else."""
    sign, expr = _turned(expr)
    parts = [_turned(part) for part in factors(expr)]
    weights = [part for _, part in parts if _WEIGHT.search(_named(part))]
    logs = [part for _, part in parts if _LOG.search(_named(part)) and not NEGATED.search(_named(part))]
    if len(parts) != 2 or len(weights) != 1 or len(logs) != 1:
        return 0
    return sign * parts[0][0] * parts[1][0]


def _sign_of_value(expr: Expr) -> int:
    sign, expr = _turned(expr)
    is_least = expr.kind == "call" and expr.last in ("min", "minimum") and len(expr.arguments) == 2
    is_value = is_least and any(_VALUE.search(_named(one)) for one in expr.arguments)
    named = _named(expr)
    return sign if is_value or (_VALUE.search(named) and not NEGATED.search(named)) else 0


def _turned(expr: Expr) -> tuple[int, Expr]:
    sign = 1
    while expr.kind == "unary" and expr.text in "+-":
        sign, expr = (-sign if expr.text == "-" else sign), expr.parts[0]
    return sign, expr


def _named(expr: Expr) -> str:
    """The last name of a path, or of what is called, through what keeps the values."""
    while expr.kind in ("call", "index"):
        inner = expr.parts[0] if expr.kind == "index" else expr.receiver if expr.last in _KEEPS else None
        if inner is None:
            break
        expr = inner
    return expr.last
