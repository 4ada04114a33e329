"""Names that may hold a thing: what it is assigned to, passed as, returned by. Wide: by last names alone."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from .handing import BUILT, HELD, KEPT, MADE, PASSED, RENAMED, RETURNED, Handing
from .reachable import Reachable
from .records import Function
from .scopes import bindings
from .wrappers import INNER

if TYPE_CHECKING:
    from .index import Index

_RUN_BY_OBJECTS = ("forward", "__call__")
_SET = re.compile("1")
_DEEP = 2  # calls of calls, and any more: not told apart


class Holders:
    def __init__(self, index: Index) -> None:
        self.index = index
        self._known: dict[tuple[frozenset[str], int], frozenset[str]] = {}
        self._known_bits: dict[int, frozenset[str]] = {}

    def of(self, seeds: frozenset[str]) -> frozenset[str]:
        """`seeds` and every name that may hold what one of them names or, called, makes."""
        same = frozenset(alias for seed in seeds for alias in self.aliases(seed))
        made = frozenset(name for alias in same for name in self._next(alias, BUILT))
        return self.reached(same | made)

    def reached(self, names: frozenset[str]) -> frozenset[str]:
        """`names` and every name that their values, or results of calling them, are passed on to."""
        return self._reached(names, HELD)

    def next_to(self, name: str, with_results: bool) -> frozenset[str]:
        """Names that `name` is handed on to in one step."""
        return frozenset(self._next(name, HELD if with_results else RENAMED))

    def aliases(self, name: str) -> frozenset[str]:
        """`name` and every name that the very same function may go by: no results of calls."""
        return self._reached(frozenset([name]), RENAMED)

    def runs(self, function: Function) -> frozenset[str]:
        """Every last name in the project that a call which runs `function` may have, but "" for what has no name."""
        named, bits = {function.name}, self._held.of((0, function.name))
        cls = self.index.class_of(function)
        level = int(function.name in _RUN_BY_OBJECTS)
        if cls is not None and (level or function.name == "__init__"):
            named.update(self._own_names, INNER if level else ())
            for name in {one.name for one in (cls, *self.index.subclasses(cls))}:
                bits |= self._held.of((level, name))
        return self._called(bits) | {name for name in named if name in self._bits}

    def _called(self, bits: int) -> frozenset[str]:
        if bits not in self._known_bits:
            written, names = f"{bits:b}"[::-1], list(self._bits)
            self._known_bits[bits] = frozenset(names[place.start()] for place in _SET.finditer(written))
        return self._known_bits[bits]

    @cached_property
    def _bits(self) -> dict[str, int]:
        """The place of every name that is called and may run something of the project."""
        names = self.index.sites.call_names & self.index.holders_of_project()
        return {name: place for place, name in enumerate(sorted(names))}

    @cached_property
    def _held(self) -> Reachable[tuple[int, str]]:
        """From (how often it is to be called to get a thing, name) to all called names that hold the thing itself."""

        def own(node: tuple[int, str]) -> int:
            calls, name = node
            return 1 << self._bits[name] if not calls and name in self._bits else 0

        return Reachable(lambda node: self._after(*node), own)

    def _after(self, calls: int, name: str) -> list[tuple[int, str]]:
        """One step on from what calling `name` so many times gives."""
        kept, made, returned, passed = self._onward
        found = [(calls, one) for one in kept.get(name, ())]
        found += [(min(calls + 1, _DEEP), one) for one in returned.get(name, ())]
        if calls:
            found += [(calls - 1, one) for one in made.get(name, ())]
            found += [(calls, one) for one in passed.get(name, ())]
            found += [(calls - 1, name)] if name in self._properties else []
        if calls == _DEEP:
            found += [(calls, one) for one in made.get(name, ())]
        return found

    @cached_property
    def _onward(self) -> tuple[dict[str, list[str]], ...]:
        """The steps by their ways: from a name to all the next that are KEPT, MADE, RETURNED, PASSED."""
        return tuple(
            {name: [one for one, ways in onward.items() if ways & way] for name, onward in self._steps.items()}
            for way in (KEPT, MADE, RETURNED, PASSED)
        )

    def _next(self, name: str, way: int) -> list[str]:
        return [other for other, ways in self._steps.get(name, {}).items() if ways & way and other != name]

    def _reached(self, seeds: frozenset[str], way: int) -> frozenset[str]:
        key = (seeds, way)
        if key not in self._known:
            reached, waiting = set(seeds), list(seeds)
            while waiting:
                for name in self._next(waiting.pop(), way):
                    if name not in reached:
                        reached.add(name)
                        waiting.append(name)
            self._known[key] = frozenset(reached)
        return self._known[key]

    @cached_property
    def _steps(self) -> dict[str, dict[str, int]]:
        return self._handing.steps()

    @cached_property
    def _handing(self) -> Handing:
        return Handing(self.index)

    @cached_property
    def members(self) -> frozenset[str]:
        """What the project's objects, classes and modules have after a dot: no call of another name there runs it."""
        found = {*INNER, *_RUN_BY_OBJECTS, *(self._steps and self._handing.attributes)}
        for cls in self.index.classes():
            found.update(cls.methods, bindings(cls.body))
        for path, file in self.index.files.items():
            found.update(bindings(file.body), (entry.alias for entry in file.imports), file.functions, file.classes)
            found.update(path.removesuffix("/__init__.py").removesuffix(".py").split("/"))
        return frozenset(found)

    @cached_property
    def _own_names(self) -> frozenset[str]:
        """What methods call the object or class that they are of."""
        return frozenset(one.parameters[0].name for one in self.index.functions() if one.owner and one.parameters)

    @cached_property
    def _properties(self) -> frozenset[str]:
        functions = (one for one in self.index.functions() if one.decorators)
        marks = ("property", "cached_property")
        return frozenset(one.name for one in functions if any(mark.last in marks for mark in one.decorators))
