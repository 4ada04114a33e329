"""Names that may hold a thing: what it is assigned to, passed as, returned by; see `Handing`. Wide."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from ..reading.scopes import bindings
from ..reading.scoping import Name, Scoping, last_of
from ..records import Expr, Function
from .handed import HELD, ONCE, Handed, Holding, step
from .handing import RUN_BY_OBJECTS, Handing
from .wrappers import INNER

if TYPE_CHECKING:
    from ..index import Index
    from ..naming.sites import Site

_SET = re.compile("1")


class Holders:
    def __init__(self, index: Index) -> None:
        self.index = index
        self.scoping = Scoping(index)
        self._known: dict[frozenset[str], tuple[Site, ...]] = {}
        self._known_bits: dict[int, tuple[Name, ...]] = {}

    def aliases(self, names: Iterable[str]) -> frozenset[str]:
        """`names` and every last name that what they mean in the project or outside may go by."""
        held = self._handed.reached((name, HELD) for name in names)
        return frozenset(last_of(name) for name, levels in held.items() if levels & HELD)

    def of_objects(self, names: Iterable[str]) -> frozenset[str]:
        """Every last name that an object of a class with one of these names may go by, and of what gives one."""
        held = self._handed.reached((name, ONCE) for name in names)
        return frozenset(last_of(name) for name in held)

    def calls(self, names: Iterable[str]) -> tuple[Site, ...]:
        """Every call of a function with one of these names, or of an object of a class; by last name, then by file."""
        wanted = frozenset(names)
        if wanted not in self._known:
            self._known[wanted] = tuple(self._calls(wanted))
        return self._known[wanted]

    def _calls(self, wanted: frozenset[str]) -> Iterator[Site]:
        below = [cls.name for cls in self.index.classes() if any(base.last in wanted for base in cls.bases)]
        held = self._handed.reached((name, ONCE if name[:1].isupper() else HELD) for name in (*wanted, *below))
        places: dict[str, set[Name]] = {}
        for name, levels in held.items():
            if levels & HELD:
                places.setdefault(last_of(name), set()).add(name)
        for last in sorted(places):
            for site in self._called(last, places[last]):
                if self.scoping.callee(site.call, site.function) in places[last]:
                    yield site
        for site in self.index.calls(""):  # self.losses[head](output, target), nn.MSELoss()(output, target)
            called = site.call.parts[0]
            if called.kind == "call" and held.get(self.scoping.callee(called, site.function), 0) & ONCE:
                yield site
                continue
            table = called.parts[0] if called.kind == "index" else called
            if table.kind == "path" and self.scoping.path(site.function, table.text) in places.get(table.last, ()):
                yield site

    def _called(self, last: str, names: set[Name]) -> Iterable[Site]:
        """Wide: calls by one of `names`, which all end in `last`; a variable of a function is called in its file alone."""
        if last in names:
            return self.index.calls(last)
        files = {name[0].path for name in names if isinstance(name[0], Function)}
        return self.index.sites.calls_in_files(last, files)

    def runs(self, function: Function) -> tuple[Name, ...]:
        """Every name in the project that a call which runs `function` may have, but "" for what has no name."""
        bits = self._held.of(function.name, HELD)
        cls = self.index.class_of(function)
        by_object = function.name in RUN_BY_OBJECTS
        if cls is not None and (by_object or function.name == "__init__"):
            for name in {one.name for one in (cls, *self.index.subclasses(cls))}:
                bits |= self._held.of(name, ONCE if by_object else HELD)
        return self._of_bits(bits) + (tuple(INNER) if by_object and cls is not None else ())

    def _of_bits(self, bits: int) -> tuple[Name, ...]:
        if bits not in self._known_bits:
            written, names = f"{bits:b}"[::-1], self._places_of
            self._known_bits[bits] = tuple(names[place.start()] for place in _SET.finditer(written))
        return self._known_bits[bits]

    @cached_property
    def _places_of(self) -> list[Name]:
        """Every name that is called and may run something of the project."""
        found = {name for name, levels in self._of_project.items() if levels & HELD}
        return sorted(found & self.callers.keys(), key=self._order)

    def _order(self, name: Name) -> tuple[str, int, str, int, str]:
        scope = name[0] if isinstance(name, tuple) else None
        if isinstance(scope, Function):
            return last_of(name), 1, scope.path, scope.line, scope.qualname
        return last_of(name), 0, scope or "", 0, ""

    @cached_property
    def _held(self) -> Holding:
        """To all called names that hold the thing itself."""
        return self._handed.holders(self._places_of)

    @cached_property
    def _of_project(self) -> Mapping[Name, int]:
        """All that may hold a function or class of the project, or what one of them gives."""
        seeds: dict[Name, int] = {function.name: HELD for function in self.index.functions()}
        seeds.update((cls.name, HELD | ONCE) for cls in self.index.classes())
        return self._handed.reached(seeds.items())

    @cached_property
    def _handed(self) -> Handed:
        properties = dict.fromkeys(one.name for one in self.index.functions() if one.is_property)
        return Handed(self._handing.table, properties)

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
            return bool(self._of_project.get(self.scoping.variable(function, called.text), 0) & HELD)
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
        held = self._handing.held(expr, function)
        return any(step(ways, self._of_project.get(name, 0)) & HELD for name, ways in held)

    @cached_property
    def members(self) -> frozenset[str]:
        """What the project's objects, classes and modules have after a dot: no call of another name there runs it."""
        found = {*INNER, *RUN_BY_OBJECTS, *self._handing.attributes}
        for cls in self.index.classes():
            found.update(cls.methods, bindings(cls.body))
        for path, file in self.index.files.items():
            found.update((entry.alias for entry in file.imports), file.functions, file.classes)
            found.update(bindings(file.body) if not file.is_plain else ())
            found.update(path.removesuffix("/__init__.py").removesuffix(".py").split("/"))
        return frozenset(found)

    @cached_property
    def _modules(self) -> frozenset[str]:
        """Names that modules go by."""
        found = {entry.alias.rpartition(".")[2] for file in self.index.files.values() for entry in file.imports}
        for path in self.index.files:
            found.update(path.removesuffix("/__init__.py").removesuffix(".py").split("/"))
        return frozenset(found)
