"""Whole numbers behind expressions: options of the command line when nobody gives them, names, configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..flags import plain_name
from ..records import Expr
from .making import makers
from .things import Spot

if TYPE_CHECKING:
    from ..index import Index


def option_default(index: Index, expr: Expr) -> int | None:
    """Of args.epochs: the whole number that add_argument("--epochs", default=...) gives; None when none or several do."""
    if expr.kind != "path" or "." not in expr.text:
        return None
    texts = {
        default.text
        for site in index.calls("add_argument")
        if any(a.kind == "string" and plain_name(a.text) == plain_name(expr.last) for a in site.call.arguments)
        and (default := site.call.keyword("default")) is not None
    }
    text = texts.pop() if len(texts) == 1 else ""
    return int(text) if text.isdigit() else None


def whole_number(index: Index, expr: Expr, spot: Spot) -> int | None:
    """The whole number behind an expression, the largest of a list: through names, defaults and configuration."""
    if expr.kind == "number":
        return int(expr.text) if expr.text.isdigit() else None
    if expr.kind in ("list", "tuple"):
        numbers = [whole_number(index, part, spot) for part in expr.parts]
        known = [number for number in numbers if number is not None]
        return max(known) if known and len(known) == len(numbers) else None
    made = {
        number
        for one, at in makers(index, expr, spot)
        if one is not expr and (number := whole_number(index, one, at)) is not None
    }
    if len(made) == 1:
        return made.pop()
    return option_default(index, expr) or _configured(index, expr)


def _configured(index: Index, expr: Expr) -> int | None:
    """Of cfg.train.epochs: the one value that the configuration files give that key."""
    if expr.kind != "path" or "." not in expr.text:
        return None
    tails = [expr.text.split(".", n)[-1] for n in range(1, expr.text.count(".") + 1)]
    for tail in tails:
        found = {value.value for value in index.configured(tail)}
        if len(found) == 1:
            text = found.pop()
            return int(text) if text.isdigit() else None
    return None
