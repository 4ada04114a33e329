"""Names that may hold a thing: what it is assigned to, passed as, returned by; see `Handing`. Wide."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from .handing import KEPT, MADE, PASSED, RETURNED, RUN_BY_OBJECTS, Handing
from .reachable import Reachable
from .records import Expr, Function
from .scopes import bindings
from .scoping import Name, Scoping, last_of
from .wrappers import INNER

if TYPE_CHECKING:
    from .index import Index
    from .sites import Site

_SET = re.compile("1")
_DEEP = 2  # calls of calls, and any more: not told apart
State = tuple[int, Name]  # how often a name is to be called to get the thing


class Holders:
    def __init__(self, index: Index) -> None:
        self.index = index
        self.scoping = Scoping(index)
        self._known: dict[frozenset[State], frozenset[State]] = {}
        self._known_bits: dict[int, tuple[Name, ...]] = {}

    def aliases(self, names: Iterable[str]) -> frozenset[str]:
        """`names` and every last name that what they mean in the project or outside may go by."""
        return frozenset(last_of(held) for calls, held in self._reached((0, name) for name in names) if not calls)

    def calls(self, names: Iterable[str]) -> Iterator[Site]:
        """Every call of a function with one of these names, or of an object of a class; by last name, then by file."""
        seeds = frozenset(names)
        below = [cls.name for cls in self.index.classes() if any(base.last in seeds for base in cls.bases)]
        held = self._reached((int(name[:1].isupper()), name) for name in (*seeds, *below))
        places: dict[str, set[Name]] = {}
        for calls, name in held:
            if not calls:
                places.setdefault(last_of(name), set()).add(name)
        for last in sorted(places):
            for site in self.index.calls(last):
                if self.scoping.callee(site.call, site.function) in places[last]:
                    yield site

    def runs(self, function: Function) -> tuple[Name, ...]:
        """Every name in the project that a call which runs `function` may have, but "" for what has no name."""
        bits = self._held.of((0, function.name))
        cls = self.index.class_of(function)
        level = int(function.name in RUN_BY_OBJECTS)
        if cls is not None and (level or function.name == "__init__"):
            for name in {one.name for one in (cls, *self.index.subclasses(cls))}:
                bits |= self._held.of((level, name))
        return self._called(bits) + (tuple(INNER) if level and cls is not None else ())

    def _called(self, bits: int) -> tuple[Name, ...]:
        if bits not in self._known_bits:
            written, names = f"{bits:b}"[::-1], self._places_of
            self._known_bits[bits] = tuple(names[place.start()] for place in _SET.finditer(written))
        return self._known_bits[bits]

    @cached_property
    def _places_of(self) -> list[Name]:
        """Every name that is called and may run something of the project."""
        found = {name for calls, name in self._of_project if not calls}
        return sorted(found & self.callers.keys(), key=self._order)

    def _order(self, name: Name) -> tuple[str, int, str, int, str]:
        scope = name[0] if isinstance(name, tuple) else None
        if isinstance(scope, Function):
            return last_of(name), 1, scope.path, scope.line, scope.qualname
        return last_of(name), 0, scope or "", 0, ""

    @cached_property
    def _held(self) -> Reachable[State]:
        """From a state to all called names that hold the thing itself."""
        bits = {name: 1 << place for place, name in enumerate(self._places_of)}
        return Reachable(lambda state: self._after(*state), lambda state: 0 if state[0] else bits.get(state[1], 0))

    def _after(self, calls: int, name: Name) -> list[State]:
        """One step on from what calling `name` so many times gives."""
        found: list[State] = []
        for other, ways in self._handing.table.get(name, {}).items():
            if ways & KEPT:
                found.append((calls, other))
            if ways & RETURNED:
                found.append((min(calls + 1, _DEEP), other))
            if calls and ways & PASSED:
                found.append((calls, other))
            if calls and ways & MADE:
                found.append((calls - 1, other))
                if calls == _DEEP:
                    found.append((calls, other))
        if calls and name in self._properties:
            found.append((calls - 1, name))
        return found

    def _reached(self, seeds: Iterable[State]) -> frozenset[State]:
        key = frozenset(seeds)
        if key not in self._known:
            reached, waiting = set(key), list(key)
            while waiting:
                for state in self._after(*waiting.pop()):
                    if state not in reached:
                        reached.add(state)
                        waiting.append(state)
            self._known[key] = frozenset(reached)
        return self._known[key]

    @cached_property
    def _of_project(self) -> frozenset[State]:
        """All that may hold a function or class of the project, or what one of them gives."""
        functions = ((0, function.name) for function in self.index.functions())
        classes = ((calls, cls.name) for cls in self.index.classes() for calls in (0, 1))
        return self._reached([*functions, *classes])

    @property
    def callers(self) -> Mapping[Name, list[Function]]:
        return self._handing.callers

    @cached_property
    def _handing(self) -> Handing:
        return Handing(self.index, self.scoping)

    def may_run(self, call: Expr, function: Function) -> bool:
        """Wide: a call in `function` may run a function of the project."""
        called = call.parts[0]
        if called.kind == "path" and "." not in called.text:
            return (0, self.scoping.variable(function, called.text)) in self._of_project
        if called.kind not in ("path", "attr"):
            return True
        receiver = called.receiver
        return called.last in self.members and receiver is not None and self._may_be_of_project(receiver, function)

    def _may_be_of_project(self, expr: Expr, function: Function) -> bool:
        """It may be an object, a class or a module of the project."""
        if expr.kind == "path":
            if self.scoping.variable(function, expr.text.partition(".")[0]) in self._modules:
                return True
        elif (expr.kind == "call" and expr.last == "super") or expr.kind not in ("call", "attr"):
            return True
        states = self._of_project
        return any(
            (ways & KEPT and (0, name) in states) or (ways & MADE and (1, name) in states)
            for name, ways in self._handing.held(expr, function)
        )

    @cached_property
    def members(self) -> frozenset[str]:
        """What the project's objects, classes and modules have after a dot: no call of another name there runs it."""
        found = {*INNER, *RUN_BY_OBJECTS, *self._handing.attributes}
        for cls in self.index.classes():
            found.update(cls.methods, bindings(cls.body))
        for path, file in self.index.files.items():
            found.update(bindings(file.body), (entry.alias for entry in file.imports), file.functions, file.classes)
            found.update(path.removesuffix("/__init__.py").removesuffix(".py").split("/"))
        return frozenset(found)

    @cached_property
    def _modules(self) -> frozenset[str]:
        """Names that modules go by."""
        found = {entry.alias.rpartition(".")[2] for file in self.index.files.values() for entry in file.imports}
        for path in self.index.files:
            found.update(path.removesuffix("/__init__.py").removesuffix(".py").split("/"))
        return frozenset(found)

    @cached_property
    def _properties(self) -> frozenset[str]:
        functions = (one for one in self.index.functions() if one.decorators)
        marks = ("property", "cached_property")
        return frozenset(one.name for one in functions if any(mark.last in marks for mark in one.decorators))
