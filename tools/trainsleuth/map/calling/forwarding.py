"""Calls by a detour: arguments handed on as *args and **kwargs, functions and classes under another name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cached_property

from trainsleuth.facts import MODULE_BODY, Class, Event, Expr, Function, Index, Site
from trainsleuth.facts.naming.sites import call_sites
from trainsleuth.facts.reading.scopes import bindings

_CLASS = rb"(?:\w+\.)*(?!None\b|True\b|False\b)[A-Z](?=\w{0,100}[a-z])\w*"
_ALIAS = re.compile(rb"=[ \t]*" + _CLASS + rb"(?:[ \t]+if\b.+\belse\b.+)?[ \t]*$", re.M)
NOWHERE = -1


def place_before(site: Site, place: int) -> int | None:
    """Where argument `place` of the call stands in calls of the function around it, when it comes as *args or **kwargs.

    NOWHERE when it can come by its name only, None when the call does not hand on what it was given.
    """
    rest = {parameter.name: parameter.kind for parameter in site.function.parameters if parameter.kind}
    handed = [part for part in site.call.parts[1:] if part.kind in ("star", "doublestar")]
    if not any(part.parts[0].text in rest for part in handed):
        return None
    named = sum(not (one.kind or one.keyword_only) for one in site.function.parameters) - bool(site.function.self_name)
    for at, argument in enumerate(site.call.arguments):
        if argument.kind == "star":
            return named + place - at if at <= place and argument.parts[0].text in rest else NOWHERE
    return NOWHERE


class Detours:
    """Calls that do not name what they call, found once for an index."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def calls_of(self, name: str) -> Iterator[Site]:
        """Those of a function or class of that name."""
        yield from self._by_choice.get(name, ())
        yield from self._by_alias.get(name, ())
        yield from self._by_word.get(name, ())
        yield from self._by_default.get(name, ())
        yield from self._by_hand_over.get(name, ())

    @cached_property
    def _by_choice(self) -> dict[str, list[Site]]:
        return _called_by_choice(self._index)

    @cached_property
    def _by_alias(self) -> dict[str, list[Site]]:
        return _called_by_alias(self._index)

    @cached_property
    def _by_word(self) -> dict[str, list[Site]]:
        return _called_by_word(self._index)

    @cached_property
    def _by_default(self) -> dict[str, list[Site]]:
        return _called_by_default(self._index)

    @cached_property
    def _by_hand_over(self) -> dict[str, list[Site]]:
        return _called_by_hand_over(self._index)


_CHOICE_CALLED = re.compile(rb"else\s+[\w.]+\s*\)\s*\(")


def _called_by_choice(index: Index) -> dict[str, list[Site]]:
    """Calls like (AMPTrainer if amp else Trainer)(model), by the last name of each arm."""
    found: dict[str, list[Site]] = {}
    for function in index.sites.may_call(""):
        for site in call_sites(function).get("", ()) if function.source.holds(_CHOICE_CALLED) else ():
            if site.call.parts[0].kind == "choice":
                for arm in (site.call.parts[0].parts[0], site.call.parts[0].parts[2]):
                    found.setdefault(arm.last, []).append(site)
    return found


def _called_by_alias(index: Index) -> dict[str, list[Site]]:
    """Calls of a class by a local name, under the class's own: cls = Online if online else Offline; cls(...)."""
    found: dict[str, list[Site]] = {}
    for function in index.functions_holding(_ALIAS):
        if function.name == MODULE_BODY:
            continue
        names = {name: list(_classes(function, name)) for name in bindings(function) if name.isidentifier()}
        for position, event in enumerate(function.events):
            for call in event.calls:
                for last in names.get(call.callee, ()):
                    found.setdefault(last, []).append(Site(function, position, call))
    return found


def _called_by_default(index: Index) -> dict[str, list[Site]]:
    """Calls of a class by a parameter whose default it is: def train(self, driver_class=Driver) and driver_class(self)."""
    found: dict[str, list[Site]] = {}
    for function in index.functions():
        for one in function.parameters:
            if one.default is None or one.default.kind != "path" or one.name not in function.called:
                continue
            held = index.resolve(function, one.default.text) if one.default.last[:1].isupper() else None
            if isinstance(held, Class):
                for position, event in enumerate(function.events):
                    sites = (Site(function, position, call) for call in event.calls if call.callee == one.name)
                    found.setdefault(held.name, []).extend(sites)
    return found


_HANDED = re.compile(rb"args(?<!\wargs)[ \t]*=[ \t]*[\[(]")
_RANKED = ("spawn", "start_processes")  # they give the rank first


def _called_by_hand_over(index: Index) -> dict[str, list[Site]]:
    """Calls of a function that is handed over with its arguments: launch(main, 8, args=(exp, opts)) as main(exp, opts)."""
    found: dict[str, list[Site]] = {}
    for function in index.functions_holding(_HANDED):
        for position, event in enumerate(function.events):
            for call in event.calls:
                given = call.keyword("args")
                first = (call.keyword("target"), *call.arguments[:1])
                for handed in first if given is not None and given.kind in ("tuple", "list") else ():
                    target = index.resolve(function, handed.text) if handed is not None else None
                    if isinstance(target, Function) and given is not None and handed is not None:
                        made = _as_called(target, handed, given.parts, call.last in _RANKED)
                        found.setdefault(target.name, []).append(Site(function, position, made))
    return found


def _as_called(target: Function, handed: Expr, given: tuple[Expr, ...], is_ranked: bool) -> Expr:
    names = [one.name for one in target.parameters if not one.kind and one.name != target.self_name][is_ranked:]
    pairs = (Expr("keyword", name, (value,), value.line) for name, value in zip(names, given, strict=False))
    return Expr("call", "", (handed, *pairs), handed.line)


def _classes(function: Function, name: str) -> Iterator[str]:
    for binding in bindings(function).get(name, ()):
        value: Expr | None = binding.value
        if binding.kind == "assign" and value is not None and not binding.items:
            arms = (value.parts[0], value.parts[2]) if value.kind == "choice" else (value,)
            yield from (arm.last for arm in arms if arm.kind == "path" and arm.last[:1].isupper())


_WORD_CALLED = re.compile(rb"getattr\([^()\n]{1,100}\)\s*\(")


def _called_by_word(index: Index) -> dict[str, list[Site]]:
    """Calls of a method by the word that is given for it: getattr(hook, stage)(self) in what "after_step" is handed to."""
    found: dict[str, list[Site]] = {}
    for function in index.functions_holding(_WORD_CALLED):
        order = [one.name for one in function.parameters if one.name != function.self_name]
        for position, event in enumerate(function.events):
            for call in event.calls:
                asked = call.parts[0]
                word = asked.arguments[1].text if asked.kind == "call" and len(asked.arguments) > 1 else ""
                if asked.kind != "call" or asked.callee != "getattr" or word not in order:
                    continue
                given = (site.call.argument(order.index(word), word) for site in index.calls(function.name))
                for name in {one.text for one in given if one is not None and one.kind == "string"}:
                    found.setdefault(name, []).append(Site(function, position, call))
    return found


def given_back(index: Index, function: Function) -> Iterator[Class | Function]:
    """What a call of `function` gives back to be called: a function defined in it, functions and classes it chooses among."""
    for event in function.events:
        if event.kind != "return" or event.value is None or event.value.kind != "path":
            continue
        name = event.value.text
        made = index.files[function.path].functions.get(f"{function.qualname}.{name}")
        if made is not None and made.outer == function.qualname:
            yield made
        bound = bindings(function).get(name, ())
        values = [one.value for one in bound if one.kind == "assign" and not one.items] if bound else [event.value]
        for value in values:
            held = index.resolve(function, value.text) if value is not None and value.kind == "path" else None
            if isinstance(held, Class | Function):
                yield held


MAX_ON = 3  # functions that hand on what another one gives


def handing_on(index: Index, function: Function) -> Iterator[Function]:
    """Functions that give back what a call of `function` gives them, or a function that does so."""
    seen, last = {function}, [function]
    for _ in range(MAX_ON):
        last = [outer for one in last for outer in _giving_back(index, one) if outer not in seen]
        seen.update(last)
        yield from last


def _giving_back(index: Index, function: Function) -> Iterator[Function]:
    for site in index.calls(function.name) if not function.self_name else ():
        if site.event.value is not site.call or index.resolve(site.function, site.call.callee) is not function:
            continue
        names = {target.text for target in site.event.targets if target.kind == "path"}
        if site.event.kind == "return" or any(_returns(event, names) for event in site.function.events):
            yield site.function


def _returns(event: Event, names: Collection[str]) -> bool:
    return event.kind == "return" and event.value is not None and event.value.text in names and not event.value.parts
