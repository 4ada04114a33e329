"""Tables that a comprehension makes of a list of classes: {one.__name__: one for one in DATASETS}."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Class, Expr, Function, Index
from trainsleuth.facts.reading.scopes import bindings

from .only_values import held_by_variable, held_nearby
from .tables import Entry


def gathered(index: Index, function: Function, table: Expr) -> Iterator[tuple[str, Entry]]:
    """Classes and functions of the project, by their own names."""
    listed = _listed(table)
    for one in _items(index, function, listed) if listed is not None else ():
        found = index.resolve(function, one.text) if one.kind == "path" else None
        if isinstance(found, Class | Function):
            yield found.name, found


def is_gathered(table: Expr) -> bool:
    return _listed(table) is not None


def _listed(table: Expr) -> Expr | None:
    """The list that is gone through, when each item stands in the table under its own name."""
    if table.kind != "each" or table.text != "dictionary" or len(table.parts) != 2:
        return None
    pair, clause = table.parts
    if pair.kind != "pair" or clause.kind != "for":
        return None
    name, held = pair.parts
    return clause.parts[1] if name.text == f"{held.text}.__name__" and held.text == clause.parts[0].text else None


def _items(index: Index, function: Function, listed: Expr) -> tuple[Expr, ...]:
    if listed.kind in ("list", "tuple", "set"):
        return listed.parts
    is_own = bool(bindings(function).get(listed.text))
    held = (held_nearby if is_own else held_by_variable)(index, function, listed)
    return held[1].parts if held is not None and held[1].kind in ("list", "tuple", "set") else ()
