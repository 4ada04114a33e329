"""Names that code itself asks registries for, through functions that hand the name on: build_trainer(Trainers.diffusion)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from trainsleuth.facts import Class, Expr, Function, Index

from ..recipe.branches import Settled, is_not_chosen
from ..recipe.constants import constant_text
from ..recipe.recipes import Choice
from .registries import place_of
from .tables import NAME_KEYS, Table


class _Asked(NamedTuple):
    """A call that asks for a class of a kind; `name` is "" when it is not a constant."""

    function: Function
    line: int
    kind: str
    name: str
    builder: Function


def asked_by_constants(
    index: Index,
    functions: Iterable[Function],
    known: Mapping[str, list[Table]],
    decided: Mapping[str, str],
    taken: Iterable[Choice],
) -> Iterator[Choice]:
    """What code asks for by a string, a constant, or a default; not in an arm that the `decided` settings do not choose.

    A table is decided where every call asks it for one and the same, and no choice of `taken` is of its kind: only then
    are its other members known not to run.
    """
    builders = _Builders(index, known)
    asked = [one for function in functions for one in _asked(index, function, builders, decided)] if builders else []
    found = [(one, table) for one in asked for table in _tables(known, one)]
    names: dict[str, set[str]] = {}
    for one in asked:
        names.setdefault(one.kind, set()).add(one.name)
    kinds = {choice.table.kind for choice in taken if choice.table is not None}
    for one, table in found:
        target = table.entries[one.name]
        if isinstance(target, Class | Function):
            decides = len(names[one.kind]) == 1 and one.kind not in kinds
            site = (one.builder, one.builder.line)
            yield Choice(
                one.function.path,
                one.line,
                f"code:{one.line}",
                one.name,
                target,
                table if decides else None,
                (site,),
            )


def _tables(known: Mapping[str, list[Table]], asked: _Asked) -> Iterator[Table]:
    of_kind = [table for table in known.get(asked.name, ()) if table.kind == asked.kind and asked.name]
    yield from sorted(of_kind, key=lambda one: bool(one.key))[:1]


def _asked(index: Index, function: Function, builders: _Builders, decided: Mapping[str, str]) -> Iterator[_Asked]:
    settled = Settled(decided, index, function)
    for event in function.events if not builders.calls_none(function) else ():
        for call in event.calls if not is_not_chosen(event, settled) else ():
            builder = index.resolve(function, call.callee) if call.callee else None
            if isinstance(builder, Function) and builder is not function:
                yield from _by_call(index, function, call, builder, builders)


def _by_call(index: Index, function: Function, call: Expr, builder: Function, builders: _Builders) -> Iterator[_Asked]:
    for place, parameter in enumerate(one for one in builder.parameters if one.name != builder.self_name):
        kind = builders.kind(builder, parameter.name)
        given = call.argument(place, parameter.name) if kind else None
        if given is not None:
            yield _Asked(function, call.line, kind, constant_text(index, function, given), builder)
        elif kind and parameter.default is not None:
            body = index.files[builder.path].body
            name = constant_text(index, body, parameter.default)
            yield _Asked(function, call.line, kind, name, builder)


class _Builders:
    """Functions that ask a registry for what one of their parameters names."""

    def __init__(self, index: Index, known: Mapping[str, list[Table]]) -> None:
        self._index = index
        self._kinds: dict[tuple[Function, str], str] = {}
        self._holders: dict[str, str] = {}  # a name that holds a registry -> its kind
        tables = dict.fromkeys(table for some in known.values() for table in some if table.kind)
        for entry in dict.fromkeys(one for table in tables for one in table.entries.values()):
            for decorator in entry.decorators if isinstance(entry, Class | Function) else ():
                holder, kind = place_of(decorator)
                if holder:
                    self._holders[holder] = kind
        self._may = frozenset(_handing(index, self._holders)) if self._holders else frozenset()

    def __bool__(self) -> bool:
        return bool(self._may)

    def calls_none(self, function: Function) -> bool:
        return function.called.isdisjoint(self._may)

    def kind(self, function: Function, parameter: str) -> str:
        """Of the registry that is asked for what `parameter` holds, "" for none."""
        key = (function, parameter)
        if key not in self._kinds:
            self._kinds[key] = ""  # it may call itself
            self._kinds[key] = next(self._of(function, parameter), "") if function.name in self._may else ""
        return self._kinds[key]

    def _of(self, function: Function, parameter: str) -> Iterator[str]:
        carrying = {parameter}
        for event in function.events:
            if event.kind == "assign" and event.value is not None and _is_name_of(event.value, carrying):
                carrying.update(one.text for one in event.targets if one.kind == "path")
            for call in event.calls:
                yield from self._at(function, call, carrying)

    def _at(self, function: Function, call: Expr, carrying: set[str]) -> Iterator[str]:
        given = [one for one in call.arguments if _is_name_of(one, carrying)]
        if not given:
            return
        holders = [call.receiver] if call.receiver is not None else []
        for one in (*holders, *call.arguments):
            if one.kind == "path" and one.last in self._holders:
                yield self._holders[one.last]
        callee = self._index.resolve(function, call.callee) if call.callee else None
        if isinstance(callee, Function) and callee is not function:
            for place, parameter in enumerate(callee.parameters):
                if call.argument(place, parameter.name) in given:
                    yield from filter(None, [self.kind(callee, parameter.name)])


def _is_name_of(value: Expr, carrying: set[str]) -> bool:
    """The name itself, or a section that holds it as what is to be made: dict(type=name), {"type": name}."""
    inner = value.parts[0] if value.kind == "keyword" else value
    if inner.kind == "path":
        return inner.text in carrying
    if inner.kind == "call" and inner.callee == "dict":
        named = [(one.text, one.parts[0]) for one in inner.parts[1:] if one.kind == "keyword"]
    else:
        pairs = (one for one in inner.parts if one.kind == "pair") if inner.kind == "dict" else ()
        named = [(one.parts[0].text, one.parts[1]) for one in pairs]
    return any(key in NAME_KEYS and one.text in carrying for key, one in named)


def _handing(index: Index, holders: Iterable[str]) -> Iterator[str]:
    """Names of functions that speak of what holds a registry, and of those that call one of these."""
    names = [re.escape(one).encode() for one in sorted(holders)]
    words = [re.compile(rb"%s(?<!\w%s)\b" % (name, name)) for name in names]  # letters first: found faster
    asking = {one.name for one in index.functions_holding(*words) if _is_no_method(one)}
    yield from asking
    yield from (one.name for name in asking for one in index.sites.may_call(name) if _is_no_method(one))


def _is_no_method(function: Function) -> bool:
    return not function.owner and function.name.isidentifier()
