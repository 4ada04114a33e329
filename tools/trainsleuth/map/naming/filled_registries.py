"""Dicts that a decorator of the project fills, and where code looks a name up in them: _ENGINES[name]."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from trainsleuth.facts import MODULE_BODY, Class, Expr, Function, Index, Site, Variable
from trainsleuth.facts.reading.scopes import bindings

Thing = Class | Function


class Registry(NamedTuple):
    """One of its kind; `filler` is the function of the project that fills it, where a decorator is one."""

    kind: str
    filler: Function | None


def lookups(index: Index, registries: Iterable[Registry]) -> Iterator[tuple[Site, Expr, Registry]]:
    """(where, wanted name, registry) of every lookup in a dict that a decorator of the project fills."""
    kinds: dict[Variable, Registry] = {}
    for one in registries:
        if one.filler is not None:
            kinds.update(dict.fromkeys(_filled_by(index, one.filler), one))
    names = sorted({re.escape(one.name).encode() for one in kinds})
    for function in (
        index.functions_holding(re.compile(rb"(?:%s)\s*(?:\[|\.get\b)" % b"|".join(names))) if names else ()
    ):
        for position, event in enumerate(function.events):
            for part in event.value.walk() if event.value is not None else ():
                table, wanted = _looked_up(part)
                held = index.resolve(function, table.text) if table is not None and table.kind == "path" else None
                if isinstance(held, Variable) and wanted is not None and held in kinds:
                    yield Site(function, position, part), wanted, kinds[held]


def _filled_by(index: Index, function: Function) -> Iterator[Variable]:
    """Dicts of the module that a decorator function, or one written in it, puts what it is given into."""
    file = index.files[function.path]
    for one in (function, *(inner for inner in file.functions.values() if inner.outer == function.qualname)):
        for event in one.events:
            for target in event.targets:
                table = _outermost(target) if _is_given(event.value, function, one) else None
                if table is not None and table.kind == "path" and target.parts[1].kind == "path":
                    held = index.resolve(one, table.text)
                    if isinstance(held, Variable) and held.scope.name == MODULE_BODY:
                        yield held


def _is_given(value: Expr | None, *functions: Function) -> bool:
    """It is no name that they bind themselves: family = family.lower(); FAMILIES[name] = family"""
    if value is None or value.kind != "path":
        return True
    return not any(value.text in bindings(one) and one.parameter(value.text) is None for one in functions)


def _outermost(part: Expr) -> Expr | None:
    """TABLE of TABLE[family][phase]"""
    while part.kind == "index" and len(part.parts) == 2:
        part = part.parts[0]
        if part.kind != "index":
            return part
    return None


def _looked_up(part: Expr) -> tuple[Expr | None, Expr | None]:
    if part.kind == "index" and len(part.parts) == 2 and part.parts[1].kind != "string":
        return _outermost(part), part.parts[1]
    if part.kind == "call" and part.last == "get" and part.arguments:
        return part.receiver, part.arguments[0]
    return None, None
