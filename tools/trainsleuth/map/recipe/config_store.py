"""Configurations that code puts into Hydra's ConfigStore: cs.store(group="net", name="small", node=SMALL_NET)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from os.path import commonpath, dirname
from typing import NamedTuple

from trainsleuth.facts import Class, Expr, Function, Index, Site, Variable, bindings
from trainsleuth.facts.memo import kept_per_index

from ..configuration.forms.spelled import Spelling
from .composition import HELD, Stored, normal

_STORE = re.compile(rb"ConfigStore")
_ORDER = ("name", "node", "group", "package")


class _Call(NamedTuple):
    """`path` and `line` are where it is stored."""

    path: str
    line: int
    stored: Stored


@kept_per_index
def stored(index: Index, near: str) -> Mapping[str, Stored]:
    """By group and name, "net/small". Of several stored alike that counts which lies nearest to the file `near`."""
    return {key: max(found, key=lambda one: _nearness(index, one, near)).stored for key, found in _calls(index).items()}


def stored_at(index: Index, parts: Collection[str]) -> Iterator[tuple[str, int]]:
    """Where the configurations of `parts`, a file and a name each, are stored, and the list that says what they consist of."""
    calls = [one for found in _calls(index).values() for one in found if one.stored.path in parts]
    yield from dict.fromkeys((one.path, one.line) for one in calls)
    for path in dict.fromkeys(one.path for one in calls):
        for one in bindings(index.files[path].body).get("defaults", ()):
            if one.value is not None and one.value.kind == "list":
                yield path, one.value.line


def _nearness(index: Index, one: _Call, near: str) -> tuple[bool, int, str]:
    file = index.files.get(near)
    modules = (index.names.module(near, entry.module, entry.level) for entry in (file.imports if file else ()))
    imported = any(module is not None and module.path == one.path for module in modules)
    return imported, len(commonpath((f"/{dirname(near)}", f"/{dirname(one.path)}"))), one.path


@kept_per_index
def _calls(index: Index) -> Mapping[str, list[_Call]]:
    table: dict[str, list[_Call]] = {}
    for site in index.calls("store"):
        if index.files[site.function.path].body.source.holds(_STORE):
            for key, one in _stored_by(index, site):
                table.setdefault(key, []).append(_Call(site.function.path, site.call.line, one))
    return table


def _stored_by(index: Index, site: Site) -> Iterator[tuple[str, Stored]]:
    name, node, group, package = (site.call.argument(place, word) for place, word in enumerate(_ORDER))
    for given in _rounds(site, node) if name is not None and node is not None else ():
        spelling = Spelling(index, site.function, given)
        held = _held(index, site.function, given.get(node.text, node)) if node is not None else None
        called = _name(site.function, spelling, name, held[1]) if name is not None and held is not None else None
        folder = spelling.of(group) if group is not None else ""
        if held is not None and called and folder is not None:
            path = HELD.join(held)
            yield normal(f"{folder}/{called}"), Stored(path, (spelling.of(package) or "") if package else "")


def _rounds(site: Site, node: Expr | None) -> Iterator[Mapping[str, Expr]]:
    """What the variables of the loop stand for that gives the node, round after round; one empty without a loop."""
    table = bindings(site.function)
    bound = table.get(node.text, ()) if node is not None and node.kind == "path" else ()
    loop = next((one for one in bound if one.kind == "for" and one.position < site.position), None)
    if loop is None:
        yield {}
        return
    names = [one for found in table.values() for one in found if one.position == loop.position and one.kind == "for"]
    for element in _elements(loop.value):
        found = {one.name: _item(element, one.items) for one in names}
        yield {name: item for name, item in found.items() if item is not None}


def _elements(source: Expr | None) -> Iterator[Expr]:
    if source is not None and source.kind in ("list", "tuple", "set"):
        for part in source.parts:
            yield from _elements(part.parts[0]) if part.kind == "star" else (part,)
    elif source is not None and source.kind == "call" and source.last == "items" and source.receiver is not None:
        yield from (part for part in source.receiver.parts if part.kind == "pair")


def _item(element: Expr, items: tuple[int | str, ...]) -> Expr | None:
    for place in items:
        if not isinstance(place, int) or place >= len(element.parts):
            return None
        element = element.parts[place]
    return element


def _held(index: Index, function: Function, node: Expr) -> tuple[str, str] | None:
    """The file and the name at its top that hold what is stored: of a class also where an object of it is made."""
    named = node.parts[0] if node.kind == "call" else node
    symbol = index.resolve(function, named.text) if named.kind == "path" else None
    if isinstance(symbol, Class) and "." not in symbol.qualname:
        return symbol.path, symbol.qualname
    if isinstance(symbol, Variable) and node.kind == "path":
        return (symbol.scope.path, symbol.name) if symbol.scope is index.files[symbol.scope.path].body else None
    return None


def _name(function: Function, spelling: Spelling, name: Expr, held: str) -> str | None:
    """Where code looks for the name among globals(), it is that of the variable."""
    bound = bindings(function).get(name.text, ()) if name.kind == "path" else ()
    made = bound[0].value if len(bound) == 1 and bound[0].kind == "assign" else name
    parts = list(made.walk()) if made is not None else []
    if any(part.kind == "call" and part.callee == "globals" for part in parts):
        return held.lower() if any(part.kind == "call" and part.last == "lower" for part in parts) else held
    return spelling.of(name)
