"""Callables that are looked up by a name: in a literal table, or among all that a module defines."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from trainsleuth.facts import Class, Expr, External, Function, Index, Module, Variable
from trainsleuth.facts.reading.scopes import bindings

from ..calling.held import MAX_DEPTH, MAX_HELD
from ..recipe.keys import key_of
from .gathered_tables import gathered, is_gathered

if TYPE_CHECKING:
    from ..calling.values import Values


def entries_of(
    values: Values, function: Function, table: Expr, depth: int, word: str | None = None
) -> tuple[Class | Function | External, ...]:
    """Classes and functions that a literal table holds, itself or by the name it is bound to; the one under `word`, in
    small letters, where it has such a key.
    """
    if table.kind == "dict":
        pairs = [pair for pair in table.parts if pair.kind == "pair"]
        asked = [pair for pair in pairs if pair.parts[0].kind == "string" and pair.parts[0].text.lower() == word]
        given = [pair.parts[1] for pair in asked or pairs]
        found = [one for value in given for one in values.callables(function, value, depth + 1)]
        return tuple(dict.fromkeys(o for o in found if not isinstance(o, External) and o not in values.known.excluded))
    if table.kind == "each":
        return tuple(one for _, one in gathered(values.index, function, table) if one not in values.known.excluded)
    if table.kind == "path":
        if function.self_name and table.text.rpartition(".")[0] == function.self_name:
            return _of_classes(values, function, table.last, depth, word)
        symbol = values.index.resolve(function, table.text)
        if isinstance(symbol, Variable):
            for binding in bindings(symbol.scope).get(symbol.name, ()):
                if binding.value is not None and (binding.value.kind == "dict" or is_gathered(binding.value)):
                    return entries_of(values, symbol.scope, binding.value, depth + 1, word)
            return tuple(dict.fromkeys(_put_in(values, symbol, depth, word))) if word else ()
    return ()


def _put_in(values: Values, table: Variable, depth: int, word: str) -> Iterator[Class | Function | External]:
    """What a table holds under `word` that is filled key by key, or that callers hand over."""
    scope, name = table
    bound = bindings(scope).get(name, ())
    for binding in bound if depth <= MAX_DEPTH else ():
        for target in scope.events[binding.position].targets if binding.kind == "append" else ():
            if target.kind == "index" and target.parts[-1].kind == "string" and binding.value is not None:
                if target.parts[0].text == name and target.parts[-1].text.lower() == word:
                    yield from values.callables(scope, binding.value, depth + 1)
    if not bound and scope.parameter(name) is not None and depth <= MAX_DEPTH:
        for site, value in values.calls.given(scope, name):
            if value.kind in ("dict", "path"):
                yield from entries_of(values, site.function, value, depth + 2, word)


def _of_classes(
    values: Values, method: Function, name: str, depth: int, word: str | None
) -> tuple[Class | Function | External, ...]:
    found: dict[Class | Function | External, None] = {}
    for body, value in values_of_classes(values, method, name, most=sys.maxsize):
        if value.kind == "dict":
            found.update(dict.fromkeys(entries_of(values, body, value, depth + 1, word)))
    return tuple(found)[:MAX_HELD]


def values_of_classes(
    values: Values, method: Function, name: str, most: int = MAX_HELD
) -> Iterator[tuple[Function, Expr]]:
    """What the bodies of classes bind `name` to: of those that are made, which may be below the method's own.

    Of more than `most` that may be made, only that of the method's own class.
    """
    owner = values.index.class_of(method)
    if owner is None:
        return
    below = [owner, *values.index.subclasses(owner)]
    made = [one for one in below if one in values.known.made] or [
        one for one in below if one not in values.known.excluded and values.is_loaded(one)
    ]
    for cls in made if len(made) <= most else (owner,):
        body = next((one.body for one in values.index.lineage(cls) if name in bindings(one.body)), cls.body)
        for binding in bindings(body).get(name, ()):
            if binding.value is not None:
                yield body, binding.value


def members_of(index: Index, function: Function, module: Expr) -> tuple[Class | Function | External, ...]:
    """All that module.__dict__[name] may be: what the module defines at its top."""
    symbol = index.resolve(function, module.text) if module.kind == "path" else None
    if not isinstance(symbol, Module) or not symbol.path:
        return ()
    file = index.files[symbol.path]
    functions = [one for name, one in file.functions.items() if name.isidentifier() and not name.startswith("_")]
    return tuple(functions)


def picked_by(picked: Mapping[str, Class | Function], wanted: Expr) -> tuple[Class | Function, ...]:
    """What the settings choose under the key that a table of unknown entries is asked by: TABLE[process["type"]].

    `picked` is by whole keys; the name of what holds the settings counts as the section before the key.
    """
    key = key_of(wanted) if picked else None
    if not key:
        return ()
    holder = wanted.parts[0].last if wanted.kind == "index" else wanted.receiver.last if wanted.receiver else ""
    for asked in (f"{holder}.{key}", key):
        found = {one for known, one in picked.items() if f".{known}".endswith(f".{asked}")}
        if found:
            return tuple(found) if len(found) == 1 else ()
    return ()
