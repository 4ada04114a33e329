"""The part of a table, written out at the top of a file, that an expression takes: DEFAULTS["optimizer"].copy()."""

from __future__ import annotations

from typing import NamedTuple

from trainsleuth.facts import MODULE_BODY, Expr, Function, Index, Variable, bindings

from ...naming.only_values import only_value

MAX_HOPS = 4


class Table(NamedTuple):
    """`table` is a display of keys and values; `function` the body of the file that has it."""

    table: Expr
    function: Function


def table_of(index: Index, function: Function, value: Expr, hops: int = MAX_HOPS) -> Table | None:
    """None where the expression is not followed to one table, or anything sets a key of it by name."""
    if value.kind == "call" and value.last in ("copy", "deepcopy", "dict") and hops:
        inner = value.receiver if value.last == "copy" and not value.arguments else next(iter(value.arguments), None)
        return table_of(index, function, inner, hops - 1) if inner is not None and len(value.parts) < 3 else None
    if value.kind == "index" and len(value.parts) == 2 and value.parts[1].kind == "string" and hops:
        held = table_of(index, function, value.parts[0], hops - 1)
        inside = held and next((pair.parts[1] for pair in held.table.parts if _key(pair) == value.parts[1].text), None)
        return Table(inside, held.function) if held and inside is not None and inside.kind == "dict" else None
    return _at_the_top(index, function, value.text) if value.kind == "path" and "." not in value.text else None


def _at_the_top(index: Index, function: Function, name: str) -> Table | None:
    if name in bindings(function) and function.name != MODULE_BODY:
        return None
    symbol = index.resolve(function, name)
    if not isinstance(symbol, Variable) or symbol.scope.name != MODULE_BODY:
        return None
    table = only_value(symbol.scope, symbol.name)
    return Table(table, symbol.scope) if table is not None and table.kind == "dict" else None


def _key(pair: Expr) -> str | None:
    return pair.parts[0].text if pair.kind == "pair" and pair.parts[0].kind == "string" else None
