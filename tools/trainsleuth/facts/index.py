"""The project index: every file's facts, and the questions that cross files."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from trainsleuth.repository import CONFIG_SUFFIXES, SOURCE_SUFFIXES, Repository

from .config import ConfigValue, read_config
from .names import External, Names, Symbol
from .notebook import join_cells
from .records import Class, Event, Expr, FileFacts, Function
from .source import read_source


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

    def class_of(self, function: Function) -> Class | None:
        """The class that a method is written in."""
        return self.files[function.path].classes.get(function.owner) if function.owner else None

    @cached_property
    def _bases(self) -> dict[Class, tuple[Class | External | None, ...]]:
        table: dict[Class, tuple[Class | External | None, ...]] = {}
        for cls in self.classes():
            found = (self.resolve(self.files[cls.path].body, base.text) for base in cls.bases if base.kind == "path")
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
        found = [base for one in self.lineage(cls) for base in self._bases[one] if not isinstance(base, Class)]
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

    def method(self, cls: Class, name: str) -> Function | None:
        """The method that an instance of `cls` has under `name`, if the project defines it."""
        return next((one.methods[name] for one in self.lineage(cls) if name in one.methods), None)


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


def _read_configs(repository: Repository, under: tuple[str, ...]) -> Iterator[tuple[str, dict[str, ConfigValue]]]:
    for path in repository.select(CONFIG_SUFFIXES, under):
        text = repository.read(path)
        if text is None:
            continue
        try:
            yield path, read_config(text)
        except ValueError as error:
            repository.skip(path, str(error))
