"""Calls of a function or a class anywhere in the program, and what they give its parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, islice

from trainsleuth.facts import Expr, Function, Index, Site
from trainsleuth.facts.memo import kept_per_index
from trainsleuth.facts.naming.sites import call_sites

from .forwarding import Detours, place_before
from .knowledge import Knowledge

MAX_CALLERS = 12  # of one function whose parameter is asked about


class Calls:
    """Answers are kept."""

    def __init__(self, index: Index, known: Knowledge, detours: Detours) -> None:
        self._index = index
        self._known = known
        self._detours = detours
        self._handed: dict[tuple[Function, str], tuple[tuple[Site, Expr], ...]] = {}
        self._called: dict[Function, tuple[Site, ...]] = {}

    def given(self, function: Function, name: str) -> tuple[tuple[Site, Expr], ...]:
        """(call, value) of the callers that give the parameter `name` of `function`."""
        key = (function, name)
        if key not in self._handed:
            place = [one.name for one in function.parameters].index(name) - (1 if function.self_name else 0)
            self._handed[key] = tuple(self._given_at(function, name, place)) if place >= 0 else ()
        return self._handed[key]

    def _given_at(self, function: Function, name: str, place: int, hops: int = 2) -> Iterator[tuple[Site, Expr]]:
        for site in self._first_of(function):
            value = site.call.argument(place, name) if place >= 0 else site.call.keyword(name)
            if value is not None:
                yield site, value
            elif hops and (before := place_before(site, place)) is not None:
                yield from self._given_at(site.function, name, before, hops - 1)

    def _first_of(self, function: Function) -> tuple[Site, ...]:
        if function not in self._called:
            reached = self._known.reached
            called = list(islice(self.of(function), 3 * MAX_CALLERS if reached else MAX_CALLERS))
            running = [site for site in called if site.function in reached]
            self._called[function] = tuple((running or called)[:MAX_CALLERS])
        return self._called[function]

    def of(self, function: Function) -> Iterator[Site]:
        """Calls of a function by its name; of a constructor by that of its class and of those that inherit it."""
        names = [function.name]
        if function.name == "__init__" and (owner := self._index.class_of(function)) is not None:
            names = [owner.name]
            for one in self._index.subclasses(owner):
                made = one.methods.get("__init__")
                if made is None and self._index.method(one, "__init__") is function:
                    names.append(one.name)
                elif made is not None and above(self._index, made, "__init__") is function:
                    yield from call_sites(made).get("__init__", ())
        for name in names:  # a common name has thousands of calls: the first are read, no others
            for site in chain(self._detours.calls_of(name), self._index.sites.first_calls(name, 3 * MAX_CALLERS)):
                if self._known.is_loaded(site.function.path):
                    yield site
        for alias, path in _imported_as(self._index).get(names[0], ()):
            if self._known.is_loaded(path):
                for caller in self._index.sites.may_call(alias):
                    yield from call_sites(caller).get(alias, ()) if caller.path == path else ()


def above(index: Index, function: Function, name: str) -> Function | None:
    """The method that super().name means in a method of a project class."""
    owner = index.class_of(function)
    lines = index.lineage(owner)[1:] if owner is not None else ()
    return next((one.methods[name] for one in lines if name in one.methods), None)


@kept_per_index
def _imported_as(index: Index) -> Mapping[str, tuple[tuple[str, str], ...]]:
    """By its own name, what a thing is called in which file: from base import experiment as run_experiment."""
    table: dict[str, dict[tuple[str, str], None]] = {}
    for path, file in index.files.items():
        for entry in file.imports:
            if entry.name and entry.alias != entry.name:
                table.setdefault(entry.name, {})[entry.alias, path] = None
    return {name: tuple(found) for name, found in table.items()}
