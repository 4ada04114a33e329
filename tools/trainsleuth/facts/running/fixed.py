"""Tests that constants decide: a name that is only ever given one, a parameter that nobody gives another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..naming.names import Variable
from ..reading.scopes import Binding, bindings
from ..records import MODULE_BODY, Expr, Function
from ..wording import written
from .dead import statement_at

if TYPE_CHECKING:
    from ..index import Index

_BY_NAME = re.compile(rb"setattr\(|__dict__|vars\(")
_SAME, _OTHER = ("is", "=="), ("is not", "!=")
MAX_HOPS = 3  # from a parameter to that of the caller that hands it on
_TRUTHS = {"True": True, "False": False, "None": False, "0": False, "1": True, "0.0": False}


class Decided(NamedTuple):
    """A test that is not so. `is_default`: a caller from elsewhere could give the parameter another value."""

    test: str
    line: int
    is_default: bool


def decided_against(index: Index, path: str, line: int) -> Iterator[Decided]:
    """The tests around a statement that it needs to be otherwise than constants make them."""
    function, _ = statement_at(index, path, line)
    for part, truth in needed_at(index, path, line):
        assert function is not None
        found = _truth(index, part, function)
        if found is not None and found[0] is not truth:
            shown = written(part) if truth else f"not {written(part)}"
            yield Decided(shown, part.line, found[1])


def needed_at(index: Index, path: str, line: int) -> Iterator[tuple[Expr, bool]]:
    """Tests that must each be so, or not be so, for the statement at `path:line` to run as it is meant: those of the arms
    that it stands in, and the switch of what it makes (GradScaler(enabled=args.amp)).
    """
    function, event = statement_at(index, path, line)
    if function is None or event is None:
        return
    for branch in event.block.branches:
        wanted = [(test, arm == branch.arm) for arm, test in enumerate(branch.tests)] if branch.kind == "if" else []
        for test, is_so in wanted:
            yield from _needed(test, is_so)
    for call in (call for one in function.events if one.line == event.line for call in one.calls):
        if (switch := call.keyword("enabled")) is not None:
            yield from _needed(switch, True)
    value = event.value
    if event.kind == "assign" and value is not None and value.kind == "choice":
        kept, test, other = value.parts[0], value.parts[1], value.parts[-1]
        if "None" in (kept.text, other.text):
            yield from _needed(test, other.text == "None")


def _needed(test: Expr, is_so: bool) -> Iterator[tuple[Expr, bool]]:
    """Parts of a test that must each be so for it to be so."""
    if test.kind == "unary" and test.text == "not":
        yield from _needed(test.parts[0], not is_so)
    elif test.kind == "boolean" and (test.text == "and") is is_so:
        for part in test.parts:
            yield from _needed(part, is_so)
    elif test.kind == "compare" and test.text in (*_SAME, *_OTHER) and test.parts[1].text in _TRUTHS:
        if test.parts[1].text == "None":
            yield test, is_so
        elif test.parts[1].kind == "constant":
            yield from _needed(test.parts[0], is_so is ((test.text in _SAME) is _TRUTHS[test.parts[1].text]))
        else:
            yield test, is_so
    else:
        yield test, is_so


def _truth(index: Index, test: Expr, function: Function) -> tuple[bool, bool] | None:
    """(what it is, whether that is a default of a parameter); None when nothing fixes it."""
    asks_for_none = test.kind == "compare" and test.text in (*_SAME, *_OTHER) and test.parts[1].text == "None"
    found = _constants(index, test.parts[0] if asks_for_none else test, function)
    if found is None:
        return None
    truths: set[bool | None]
    if asks_for_none:
        truths = {(one == "None") is (test.text in _SAME) for one in found.texts}
    else:
        truths = {_TRUTHS.get(one) for one in found.texts}
    truth = truths.pop() if len(truths) == 1 else None
    return None if truth is None else (truth, found.is_default)


class _Constants(NamedTuple):
    texts: frozenset[str]
    is_default: bool


def _constants(index: Index, expr: Expr, function: Function, hops: int = MAX_HOPS) -> _Constants | None:
    """All that a name is ever given; None when that is not constants alone."""
    if expr.kind != "path" or not hops:
        return None
    own, dot, rest = expr.text.partition(".")
    if dot and own == function.self_name:
        return _attribute(index, rest, function, hops) if "." not in rest else None
    symbol = index.resolve(function, expr.text)
    if not isinstance(symbol, Variable):
        return None
    if symbol.scope.parameter(symbol.name) is not None:
        return _parameter(index, symbol.scope, symbol.name, hops)
    at_top = symbol.scope.name == MODULE_BODY
    every = list(bindings(symbol.scope).get(symbol.name, ()))
    every += [one for _, one in index.global_bindings(symbol.scope.path, symbol.name)] if at_top else []
    if at_top and index.set_from_outside(symbol.name):
        return None
    return _known((_given(one) for one in every), False)


def _known(values: Iterable[Expr | None], is_default: bool) -> _Constants | None:
    texts = [one.text if one is not None and one.kind in ("constant", "number") else "" for one in values]
    return _Constants(frozenset(texts), is_default) if texts and "" not in texts else None


def _given(binding: Binding) -> Expr | None:
    return binding.value if binding.kind == "assign" and not binding.items else None


def _attribute(index: Index, name: str, function: Function, hops: int) -> _Constants | None:
    cls = index.class_of(function)
    if cls is None or index.set_from_outside(name) or set(index.external_bases(cls)) - {"object", "torch.nn.Module"}:
        return None
    if index.files[cls.path].body.source.holds(_BY_NAME):
        return None
    family = {cls: None} | {one: None for below in (cls, *index.subclasses(cls)) for one in index.lineage(below)}
    every = [one for each in family for one in index.hierarchy.attribute_bindings(each, name)]
    inside = [one for each in family for one in bindings(each.body).get(name, ())]
    if len(every) == 1 and not inside:
        method, binding = every[0]
        value = _given(binding)
        if value is not None and value.kind == "path" and method.parameter(value.text) is not None:
            return _parameter(index, method, value.text, hops)
    return _known(map(_given, (*(one for _, one in every), *inside)), False)


def _parameter(index: Index, function: Function, name: str, hops: int) -> _Constants | None:
    """What every call of the function gives, leaves or hands on; None where no call is known."""
    own = bindings(function).get(name, ())
    parameter = function.parameter(name)
    callers = index.callers(function)
    if own or not callers or parameter is None or parameter.kind:
        return None
    if any(part.kind in ("star", "doublestar") for one in callers for part in one.call.parts[1:]):
        return None
    texts: set[str] = set()
    for one in callers:
        given = index.flow.given(function, one.call, name, one.owner is not None)
        handed = _constants(index, given, one.spot.function, hops - 1) if given is not None else None
        found = handed or _known([given if given is not None else parameter.default], True)
        if found is None:
            return None
        texts |= found.texts
    return _Constants(frozenset(texts), True)
