"""Objects of a table that a parser is given as defaults: parser.set_defaults(**PRESETS[args.preset]), where code above says
small = Settings(), small.lr = 2e-4, PRESETS["small"] = small."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping

from trainsleuth.facts import ConfigValue, Expr, Function, Index, Variable
from trainsleuth.facts.reading.scopes import bindings

from ..configuration.forms.assigned_tables import assigned
from .recipes import Setting

_HANDS = "set_defaults"


def handed_objects(index: Index, reached: Container[Function], options: Mapping[str, str]) -> Iterator[Setting]:
    """What the entries hold that `options` name, several between commas in their order, later ones winning."""
    for site in index.calls(_HANDS):
        for part in site.call.parts[1:] if site.function in reached else ():
            table = _table(index, site.function, part.parts[0]) if part.kind == "doublestar" else None
            if table is not None:
                for name in _named(site.function, options):
                    yield from _entry(index, table, name)


def _table(index: Index, function: Function, spread: Expr) -> Variable | None:
    """PRESETS of **PRESETS[name], and of **chosen below chosen = PRESETS[name]; one that stands at the top of a file."""
    bound = bindings(function).get(spread.text, ()) if spread.kind == "path" else ()
    value = bound[0].value if len(bound) == 1 else spread
    asked = value.parts[0] if value is not None and value.kind == "index" else None
    symbol = index.resolve(function, asked.text) if asked is not None and asked.kind == "path" else None
    is_of_file = isinstance(symbol, Variable) and symbol.scope is index.files[symbol.scope.path].body
    return symbol if isinstance(symbol, Variable) and is_of_file else None


def _named(function: Function, options: Mapping[str, str]) -> Iterator[str]:
    """Values of options that the function speaks of."""
    for key, value in options.items():
        if value and function.source.holds(re.compile(rb"\b%s\b" % re.escape(key.encode()))):
            yield from value.split(",")


def _entry(index: Index, table: Variable, name: str) -> Iterator[Setting]:
    found = _below(index, table.scope, f"{table.name}.{name}")
    for event in table.scope.events:
        held = event.value.text if event.value is not None and event.value.kind == "path" else ""
        if held and any(_is_entry(target, table, name) for target in event.targets):
            found.update(_object(index, table.scope, held, frozenset()))
    for key, value in found.items():
        yield Setting(table.scope.path, value.line, key, value.value)


def _is_entry(target: Expr, table: Variable, name: str) -> bool:
    key = target.parts[1] if target.kind == "index" and len(target.parts) == 2 else None
    return key is not None and target.parts[0].text == table.name and (key.kind, key.text) == ("string", name)


def _object(index: Index, scope: Function, name: str, seen: frozenset[str]) -> dict[str, ConfigValue]:
    """Its attributes, over those of others that it is filled with: small.update(base)."""
    found: dict[str, ConfigValue] = {}
    for event in scope.events:
        call = event.value if event.kind == "expression" else None
        if call is not None and call.callee == f"{name}.update" and len(call.arguments) == 1 and name not in seen:
            found.update(_object(index, scope, call.arguments[0].text, seen | {name}))
    return {**found, **_below(index, scope, name)}


def _below(index: Index, scope: Function, name: str) -> dict[str, ConfigValue]:
    start = f"{name}."
    return {key[len(start) :]: one for key, one in assigned(index, scope.path).items() if key.startswith(start)}
