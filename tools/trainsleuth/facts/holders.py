"""Names that may hold a thing: what it is assigned to, passed as, returned by. Wide: by last names alone."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from .records import Expr, Function
from .wrappers import is_wrapper

if TYPE_CHECKING:
    from .index import Index

MAX_NAMESAKES = 40  # __init__, forward and the like: a positional argument of theirs says nothing


class Holders:
    def __init__(self, index: Index) -> None:
        self.index = index
        self._known: dict[tuple[frozenset[str], bool], frozenset[str]] = {}

    def of(self, seeds: frozenset[str]) -> frozenset[str]:
        """`seeds` and every name that may hold what one of them names or, called, makes."""
        same = frozenset(alias for seed in seeds for alias in self.aliases(seed))
        made = frozenset(name for alias in same for name in self._made.get(alias, ()))
        return self._reached(same | made, True)

    def reached(self, names: frozenset[str]) -> frozenset[str]:
        """`names` and every name that their values, or results of calling them, are passed on to."""
        return self._reached(names, True)

    def aliases(self, name: str) -> frozenset[str]:
        """`name` and every name that the very same function may go by: no results of calls."""
        return self._reached(frozenset([name]), False)

    def _reached(self, seeds: frozenset[str], with_results: bool) -> frozenset[str]:
        key = (seeds, with_results)
        if key not in self._known:
            edges = self._edges if with_results else self._renaming
            reached, stack = set(seeds), list(seeds)
            while stack:
                for name in edges.get(stack.pop(), ()):
                    if name not in reached:
                        reached.add(name)
                        stack.append(name)
            self._known[key] = frozenset(reached)
        return self._known[key]

    @cached_property
    def _made(self) -> dict[str, set[str]]:
        """From the name that is called to the names that its result is assigned to."""
        made: dict[str, set[str]] = {}
        for function in self.index.functions():
            for event in function.events:
                if event.value is not None and event.value.kind == "call" and event.kind in ("assign", "return"):
                    names = {last for target in event.targets for last in _targets(target)} or {function.name}
                    made.setdefault(event.value.last, set()).update(names)
        return made

    @cached_property
    def _edges(self) -> dict[str, set[str]]:
        return self._flows(True)

    @cached_property
    def _renaming(self) -> dict[str, set[str]]:
        return self._flows(False)

    def _flows(self, with_results: bool) -> dict[str, set[str]]:
        """From name to name: assignments, arguments, returns, imports; with or without the results of
        calls.
        """
        edges: dict[str, set[str]] = {}
        for file in self.index.files.values():
            for entry in file.imports:
                if entry.name and entry.alias != entry.name:
                    edges.setdefault(entry.name, set()).add(entry.alias)
        for function in self.index.functions():
            for source, name in self._of_function(function, with_results):
                if source != name:
                    edges.setdefault(source, set()).add(name)
        return edges

    def _of_function(self, function: Function, with_results: bool) -> Iterator[tuple[str, str]]:
        for parameter in function.parameters:
            for source in self._held(parameter.default, with_results) if parameter.default is not None else ():
                yield source, parameter.name
        for event in function.events:
            if event.kind == "return":
                yield from ((source, function.name) for source in self._held(event.value, with_results))
            elif event.targets:
                names = [last for target in event.targets for last in _targets(target)]
                yield from ((source, name) for source in self._held(event.value, with_results) for name in names)
            for call in event.calls:
                yield from self._passed(call, with_results)

    @cached_property
    def _places(self) -> dict[str, list[set[str]]]:
        """For each function name, the parameter names that its positional arguments may meet, place by
        place.
        """
        table: dict[str, list[set[str]]] = {}
        for name, functions in self.index.functions_by_name().items():
            if len(functions) > MAX_NAMESAKES:
                continue
            places = table.setdefault(name, [])
            for function in functions:
                plain = [p.name for p in function.parameters if not p.kind and p.name != function.self_name]
                for place, parameter in enumerate(plain):
                    if place == len(places):
                        places.append(set())
                    places[place].add(parameter)
        return table

    def _passed(self, call: Expr, with_results: bool) -> Iterator[tuple[str, str]]:
        places = self._places.get(call.last)
        if places is None:
            return
        for place, argument in enumerate(call.parts[1:]):
            if argument.kind == "keyword":
                names = {argument.text}
                argument = argument.parts[0]
            else:
                names = places[place] if place < len(places) else set()
            yield from ((source, name) for source in self._held(argument, with_results) for name in names)

    def _held(self, expr: Expr | None, with_results: bool) -> Iterator[str]:
        """Last names of what the value of an expression may be."""
        if expr is None:
            return
        if expr.kind in ("path", "attr"):
            yield expr.last
        elif expr.kind == "call" and (with_results or expr.last == "partial"):
            name = expr.last
            if name[:1].isupper() or self.index.functions_named(name):
                yield name
            if is_wrapper(name):
                yield from (held for part in expr.parts[1:] for held in self._held(part, with_results))
                if (receiver := expr.receiver) is not None:
                    yield from self._held(receiver, with_results)
            elif name[:1].isupper() or name == "partial":
                yield from (held for part in expr.parts[1:] for held in self._held(part, with_results))
        elif expr.kind == "choice":
            yield from (held for part in (expr.parts[0], expr.parts[2]) for held in self._held(part, with_results))
        elif expr.kind in (
            "list",
            "tuple",
            "dict",
            "pair",
            "boolean",
            "keyword",
            "walrus",
            "await",
            "star",
            "index",
            "each",
        ):
            yield from (held for part in expr.parts for held in self._held(part, with_results))


def _targets(target: Expr) -> Iterator[str]:
    if target.kind in ("path", "attr"):
        yield target.last
    elif target.kind == "index":
        yield from _targets(target.parts[0])
    else:
        for part in target.parts:
            yield from _targets(part)
