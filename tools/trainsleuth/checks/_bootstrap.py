"""Targets of reinforcement learning: reward + discount * value of what comes next."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainsleuth.facts import Expr, Function, Index, factors, is_test

_DISCOUNT = re.compile(r"^(gamma|discount(_?(factor|rate))?|GAMMA|DISCOUNT\w*)$")
_DISCOUNTS = tuple(map(re.compile, (rb"gamma", rb"discount", rb"GAMMA", rb"DISCOUNT")))
_REWARD = re.compile(r"^(r|R|rw|rew\w*|\w*reward\w*|Reward\w*|REWARD\w*|r_t|rs|b_r|batch_r|returns?)$")


_PLAIN = ("detach", "float", "clone", "item", "squeeze")


class Bootstrap(NamedTuple):
    """`ahead` are the factors that the discount is multiplied with."""

    function: Function
    position: int
    expr: Expr
    ahead: tuple[Expr, ...]


def bootstraps(index: Index) -> Iterator[Bootstrap]:
    for function in index.functions_holding(*_DISCOUNTS):
        if is_test(function.path):
            continue
        for position, event in enumerate(function.events):
            if event.value is not None:
                yield from bootstraps_in(function, position, event.value)


def bootstraps_in(function: Function, position: int, value: Expr) -> Iterator[Bootstrap]:
    """Every `reward + discount * ...` of an expression."""
    for expr in value.walk():
        if expr.kind != "binary" or expr.text != "+" or len(expr.parts) != 2:
            continue
        for reward, rest in (expr.parts, expr.parts[::-1]):
            multiplied = list(factors(_bare(rest)))
            ahead = tuple(factor for factor in multiplied if not _DISCOUNT.match(_base(factor)))
            if _REWARD.match(_base(reward)) and 0 < len(ahead) < len(multiplied):
                yield Bootstrap(function, position, expr, ahead)
                break


def _bare(expr: Expr) -> Expr:
    """(a * b).detach() is a * b."""
    while expr.kind == "call" and len(expr.parts) == 1 and expr.last in _PLAIN and expr.receiver is not None:
        expr = expr.receiver
    return expr


def _base(expr: Expr) -> str:
    """Last name of `self.gamma`, `reward[i]`, `rewards.unsqueeze(1)`, `gamma ** n`."""
    while expr.kind in ("index", "call", "binary"):
        if expr.kind == "binary" and expr.text != "**":
            return ""
        inner = expr.receiver if expr.kind == "call" else expr.parts[0]
        if inner is None:
            return ""
        expr = inner
    return expr.last
