"""Where things are called, by last name, and which files can have to do with each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from typing import NamedTuple

from .names import Names
from .records import Event, Expr, FileFacts, Function


class Site(NamedTuple):
    """One call, and where it stands: `position` counts the events of `function`."""

    function: Function
    position: int
    call: Expr

    @property
    def event(self) -> Event:
        return self.function.events[self.position]


@lru_cache(maxsize=20_000)
def is_test(path: str) -> bool:
    """A file of tests: what it calls says little about how the project trains."""
    folders, _, name = path.rpartition("/")
    return name.startswith("test_") or name == "conftest.py" or bool({"tests", "test"} & set(folders.split("/")))


class Sites:
    def __init__(self, files: Mapping[str, FileFacts], names: Names) -> None:
        self.files = files
        self.names = names

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        return tuple(function for file in self.files.values() for function in file.functions.values())

    @cached_property
    def _calls(self) -> dict[str, list[Site]]:
        table: dict[str, list[Site]] = {}
        for function in self.functions:
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
        """The part of the project that a file belongs to: imports lead, in any direction, between its
        files only.
        """
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

    @cached_property
    def kept_in_literals(self) -> frozenset[str]:
        """Last names that stand in a list, tuple or dict literal: functions there are called by index."""
        return frozenset(
            part.last
            for function in self.functions
            for event in function.events
            if event.value is not None and event.kind in ("assign", "return")
            for literal in event.value.walk()
            if literal.kind in ("list", "tuple", "pair")
            for part in literal.parts
            if part.kind == "path"
        )
