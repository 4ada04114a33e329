"""The project index: every file's facts, and the questions that cross files."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from trainsleuth.repository import CONFIG_SUFFIXES, SOURCE_SUFFIXES, Repository

from .callers import Caller, Callers, is_test
from .config import ConfigValue, read_config
from .effects import Effects
from .flow import Flow
from .following import Circles
from .holders import Holders
from .members import Members
from .names import External, Names, Symbol
from .notebook import join_cells
from .objects import Objects
from .records import Class, Event, Expr, FileFacts, Function
from .scopes import Binding, bindings
from .source import read_source
from .things import Frame, Instance, Spot
from .values import Values
from .words import words


class Site(NamedTuple):
    """One call, and where it stands: `position` counts the events of `function`."""

    function: Function
    position: int
    call: Expr

    @property
    def event(self) -> Event:
        return self.function.events[self.position]


@dataclass(frozen=True, eq=False)
class Index:
    """All facts of a project. Build it with `build_index`; then ask."""

    repository: Repository
    files: Mapping[str, FileFacts]
    configs: Mapping[str, Mapping[str, ConfigValue]]

    @cached_property
    def names(self) -> Names:
        return Names(self.files)

    def resolve(self, function: Function, dotted: str) -> Symbol | None:
        """What a dotted name means inside `function`; see `Names.resolve`."""
        return self.names.resolve(function, dotted)

    def functions(self) -> Iterator[Function]:
        """Every function, method, class body and module body, by path and in source order."""
        for file in self.files.values():
            yield from file.functions.values()

    def classes(self) -> Iterator[Class]:
        for file in self.files.values():
            yield from file.classes.values()

    @cached_property
    def _calls(self) -> dict[str, list[Site]]:
        table: dict[str, list[Site]] = {}
        for function in self.functions():
            for position, event in enumerate(function.events):
                for call in event.calls:
                    table.setdefault(call.last, []).append(Site(function, position, call))
        return table

    def calls(self, *last_names: str) -> Iterator[Site]:
        """Every call whose last name is one of `last_names`: "step" gives opt.step(), self.opt.step()."""
        for name in last_names:
            yield from self._calls.get(name, ())

    @cached_property
    def _parts(self) -> dict[str, str]:
        """For each file the first file of its part: files that imports connect, in either direction."""
        first: dict[str, str] = {path: path for path in self.files}

        def root(path: str) -> str:
            while first[path] != path:
                first[path] = path = first[first[path]]
            return path

        for path, file in self.files.items():
            for entry in file.imports:
                for dotted in (entry.module, f"{entry.module}.{entry.name}" if entry.name else entry.module):
                    module = self.names.module(path, dotted, entry.level)
                    if module is not None and module.path:
                        first[root(path)] = root(module.path)
        return {path: root(path) for path in first}

    def part(self, path: str) -> str:
        """The part of the project that a file belongs to: imports lead, in any direction, between its files only."""
        return self._parts[path]

    @cached_property
    def _calls_in(self) -> dict[tuple[str, str], list[Site]]:
        table: dict[tuple[str, str], list[Site]] = {}
        for name, sites in self._calls.items():
            for site in sites:
                if not is_test(site.function.path):
                    table.setdefault((name, self._parts[site.function.path]), []).append(site)
        return table

    def calls_in(self, name: str, part: str) -> tuple[Site, ...]:
        """Calls by last name in one part of the project, outside tests."""
        return tuple(self._calls_in.get((name, part), ()))

    def call_names(self) -> frozenset[str]:
        """Last names of all calls in the project."""
        return frozenset(self._calls)

    def class_of(self, function: Function) -> Class | None:
        """The class that a method is written in."""
        return self.files[function.path].classes.get(function.owner) if function.owner else None

    @cached_property
    def _bases(self) -> dict[Class, tuple[Class | External | None, ...]]:
        table: dict[Class, tuple[Class | External | None, ...]] = {}
        for cls in self.classes():
            found = (
                self.resolve(self.files[cls.path].body, base.text)
                for base in cls.bases
                if base.kind == "path"
            )
            table[cls] = tuple(base if isinstance(base, Class | External) else None for base in found)
        return table

    def lineage(self, cls: Class) -> tuple[Class, ...]:
        """`cls` and its project base classes, nearest first."""
        order: dict[Class, None] = {}
        stack = [cls]
        while stack:
            current = stack.pop(0)
            if current not in order:
                order[current] = None
                stack.extend(base for base in self._bases.get(current, ()) if isinstance(base, Class))
        return tuple(order)

    def external_bases(self, cls: Class) -> tuple[str, ...]:
        """Full names of the base classes outside the project, of the lineage; "?" for an unknown one."""
        found = [
            base for one in self.lineage(cls) for base in self._bases[one] if not isinstance(base, Class)
        ]
        unread = any(base.kind != "path" for one in self.lineage(cls) for base in one.bases)
        return tuple(base.name if base else "?" for base in found) + (("?",) if unread else ())

    @cached_property
    def _subclasses(self) -> dict[Class, list[Class]]:
        table: dict[Class, list[Class]] = {}
        for cls in self.classes():
            for base in self.lineage(cls)[1:]:
                table.setdefault(base, []).append(cls)
        return table

    def subclasses(self, cls: Class) -> tuple[Class, ...]:
        """Project classes below `cls`, at any depth."""
        return tuple(self._subclasses.get(cls, ()))

    @cached_property
    def _attribute_bindings(self) -> dict[Class, dict[str, list[tuple[Function, Binding]]]]:
        table: dict[Class, dict[str, list[tuple[Function, Binding]]]] = {}
        for cls in self.classes():
            own = table.setdefault(cls, {})
            for method in cls.methods.values():
                prefix = f"{method.self_name}."
                for path, found in bindings(method).items():
                    if method.self_name and path.startswith(prefix):
                        kept = [(method, binding) for binding in found if binding.kind != "delete"]
                        own.setdefault(path.removeprefix(prefix), []).extend(kept)
        return table

    def attribute_bindings(self, cls: Class, name: str) -> tuple[tuple[Function, Binding], ...]:
        """Where the methods of `cls` itself bind `self.name`, in source order."""
        return tuple(self._attribute_bindings[cls].get(name, ()))

    def attribute_names(self, cls: Class) -> tuple[str, ...]:
        """Attributes of self that the methods of `cls` itself bind, "a.b" for a part of one."""
        return tuple(self._attribute_bindings[cls])

    def method(self, cls: Class, name: str) -> Function | None:
        """The method that an instance of `cls` has under `name`, if the project defines it."""
        return next((one.methods[name] for one in self.lineage(cls) if name in one.methods), None)

    def methods(self, owner: Instance, name: str) -> tuple[Function, ...]:
        """Every method that `owner.name` may run: one, or with overrides when only a base class is known."""
        if not isinstance(owner.kind, Class):
            return ()
        found = [self.method(owner.kind, name)]
        if owner.call is None:
            found += [below.methods.get(name) for below in self.subclasses(owner.kind)]
        return tuple(dict.fromkeys(one for one in found if one is not None))

    def is_a(self, cls: Class, *externals: str) -> bool:
        """A project class with one of the external classes, given by last name, above it."""
        return any(base.rpartition(".")[2] in externals for base in self.external_bases(cls))

    @cached_property
    def _functions_named(self) -> dict[str, list[Function]]:
        table: dict[str, list[Function]] = {}
        for function in self.functions():
            table.setdefault(function.name, []).append(function)
        for cls in self.classes():
            if (init := self.method(cls, "__init__")) is not None:
                table.setdefault(cls.name, []).append(init)
        return table

    def functions_by_name(self) -> Mapping[str, list[Function]]:
        return self._functions_named

    def functions_named(self, name: str) -> tuple[Function, ...]:
        """Wide: every function or method of that name, and the constructor of every class of that name."""
        return tuple(self._functions_named.get(name, ()))

    @cached_property
    def _global_bindings(self) -> dict[tuple[str, str], list[tuple[Function, Binding]]]:
        table: dict[tuple[str, str], list[tuple[Function, Binding]]] = {}
        for function in self.functions():
            for event in function.events:
                for name in event.text.split() if event.kind == "global" else ():
                    found = [(function, binding) for binding in bindings(function).get(name, ())]
                    table.setdefault((function.path, name), []).extend(found)
        return table

    def global_bindings(self, path: str, name: str) -> tuple[tuple[Function, Binding], ...]:
        """Bindings of a module's variable from functions that call it global."""
        return tuple(self._global_bindings.get((path, name), ()))

    @cached_property
    def _set_from_outside(self) -> dict[str, list[tuple[Function, int]]]:
        table: dict[str, list[tuple[Function, int]]] = {}
        for function in self.functions():
            for path, found in bindings(function).items():
                head, _, name = path.rpartition(".")
                is_settings = head.rpartition(".")[2].lower().strip("_") in _SETTINGS
                if head and head != function.self_name and not is_settings and found[0].kind == "assign":
                    table.setdefault(name, []).append((function, function.events[found[0].position].line))
        return table

    def set_from_outside(self, attribute: str) -> tuple[tuple[Function, int], ...]:
        """Places that assign `x.attribute` where x is not self and not named like a table of settings."""
        return tuple(self._set_from_outside.get(attribute, ()))

    @cached_property
    def _frames(self) -> dict[object, Frame]:
        return {}

    def frame(
        self, function: Function, call: Expr | None, caller: Spot | None, owner: Instance | None
    ) -> Frame:
        """The frame of one call; the same call in the same context is always the same frame."""
        key = (function, call, caller, owner)
        return self._frames.setdefault(key, Frame(function, call, caller, owner))

    def constructor_frame(self, owner: Instance, method: Function) -> Frame:
        """The frame in which `method` runs for `owner`: with the constructor's arguments where it is a constructor."""
        if owner.call is None or not isinstance(owner.kind, Class) or method.name != "__init__":
            return self.frame(method, None, None, owner)
        own = self.method(owner.kind, "__init__")
        frame = self.frame(own, owner.call, owner.spot, owner) if own is not None else None
        for _ in range(8):
            if frame is None or frame.function is method:
                break
            frame = self._base_frame(frame, owner)
        return frame or self.frame(method, None, None, owner)

    def _base_frame(self, frame: Frame, owner: Instance) -> Frame | None:
        """From a constructor to the one of the base class that it calls."""
        cls = self.class_of(frame.function)
        above = self.lineage(cls)[1:] if cls is not None else ()
        base = next((one.methods["__init__"] for one in above if "__init__" in one.methods), None)
        for position, event in enumerate(frame.function.events):
            for call in event.calls:
                if base is not None and call.last == "__init__" and call.receiver is not None:
                    return self.frame(base, call, Spot(frame.function, position, frame, frame.reach), owner)
        return None

    def returns(self, frame: Frame) -> Iterator[tuple[Expr, Spot]]:
        """Every value that the function of `frame` may return, where it is returned."""
        end = Spot(frame.function, len(frame.function.events), frame, frame.reach)
        for position, event in enumerate(frame.function.events):
            if event.kind == "return" and event.value is not None and not self.flow.is_dead(event.block, end):
                yield event.value, Spot(frame.function, position, frame, frame.reach)

    @cached_property
    def circles(self) -> Circles:
        return Circles()

    @cached_property
    def flow(self) -> Flow:
        return Flow(self)

    @cached_property
    def objects(self) -> Objects:
        """`index.objects.of(expr, spot)`: which things an expression may stand for."""
        return Objects(self)

    @cached_property
    def members(self) -> Members:
        """`index.members.of(expr, spot)`: what a collection holds."""
        return Members(self)

    @cached_property
    def values(self) -> Values:
        """`index.values.of(expr, spot)`: range and gradient of the tensor that an expression gives."""
        return Values(self)

    @cached_property
    def effects(self) -> Effects:
        """`index.effects.of(function)`: what calling it does to optimizers, losses and modes, at any depth."""
        return Effects(self)

    @cached_property
    def calling(self) -> Callers:
        return Callers(self)

    def callers(self, function: Function) -> tuple[Caller, ...]:
        """Every call outside tests that surely runs `function`."""
        return self.calling.of(function)

    @cached_property
    def _holders(self) -> Holders:
        return Holders(self)

    def aliases(self, function_name: str) -> frozenset[str]:
        """Wide: every last name under which a function of that name may be called."""
        return self._holders.aliases(function_name)

    def holders(self, names: frozenset[str]) -> frozenset[str]:
        """Wide: every last name that may hold a thing named so: classes to variables, attributes, parameters."""
        return self._holders.of(names)


_SETTINGS = words(
    """
    args arg opt opts options config configs cfg conf hparams hp flags params param c a self
    """
)


def build_index(repository: Repository, under: Iterable[str] = ()) -> Index:
    """Read every source and configuration file (below the folders `under`, if given).

    Never raises for their content: what could not be read is in `repository.skipped`.
    """
    scopes = tuple(under)
    collecting = gc.isenabled()
    gc.disable()  # nothing made here is garbage, and looking for some takes a third of the time
    try:
        files = {facts.path: facts for facts in _read_sources(repository, scopes)}
        configs = dict(_read_configs(repository, scopes))
    finally:
        if collecting:
            gc.enable()
    return Index(repository, files, configs)


def _read_sources(repository: Repository, under: tuple[str, ...]) -> Iterator[FileFacts]:
    for path in repository.select(SOURCE_SUFFIXES, under):
        text = repository.read(path)
        if text is None:
            continue
        cells: tuple[tuple[int, int], ...] = ()
        if path.endswith(".ipynb"):
            try:
                text, cells = join_cells(text)
            except ValueError as error:
                repository.skip(path, str(error))
                continue
        facts = read_source(path, text, cells)
        if facts.problems:
            line, what = facts.problems[0]
            repository.skip(path, f"read in part: line {line} {what}")
        yield facts


def _read_configs(
    repository: Repository, under: tuple[str, ...]
) -> Iterator[tuple[str, dict[str, ConfigValue]]]:
    for path in repository.select(CONFIG_SUFFIXES, under):
        text = repository.read(path)
        if text is None:
            continue
        try:
            yield path, read_config(text)
        except ValueError as error:
            repository.skip(path, str(error))
