"""Where things are called, by last name, and which files can have to do with each other."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import islice
from typing import NamedTuple

from ..memo import kept_per_function
from ..records import Event, Expr, FileFacts, Function
from .names import Names


class Site(NamedTuple):
    """One call, and where it stands: `position` counts the events of `function`."""

    function: Function
    position: int
    call: Expr

    @property
    def event(self) -> Event:
        return self.function.events[self.position]


_new: Callable[..., Site] = tuple.__new__  # half the time of Site()


@kept_per_function
def call_sites(function: Function) -> dict[str, tuple[Site, ...]]:
    """Every call in a function's own body by its last name, in source order."""
    table: dict[str, list[Site]] = {}
    for position, event in enumerate(function.events):
        for call in event.calls:
            kind, text, _, _ = call[2][0]  # as Expr.last says it, in half the time
            name = text.rpartition(".")[2] if kind == "path" else text if kind == "attr" else ""
            table.setdefault(name, []).append(_new(Site, (function, position, call)))
    return {name: tuple(found) for name, found in table.items()}


_TESTING = re.compile(r"test_|conftest\.py$|unit_?tests?[_.]|(.*_)unit_?tests?\.")
_TEST_FOLDERS = frozenset({"tests", "test", "unittest", "unittests", "unit_test", "unit_tests"})


@lru_cache(maxsize=20_000)
def is_test(path: str) -> bool:
    """A file of tests: what it calls says little about how the project trains."""
    folders, _, name = path.rpartition("/")
    return bool(_TESTING.match(name)) or not _TEST_FOLDERS.isdisjoint(folders.split("/"))


class Sites:
    def __init__(self, files: Mapping[str, FileFacts], names: Names) -> None:
        self.files = files
        self.names = names
        self._known: dict[str, tuple[Site, ...]] = {}
        self._known_in: dict[tuple[str, str], tuple[Site, ...]] = {}

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        return tuple(function for file in self.files.values() for function in file.functions.values())

    @cached_property
    def _callers_of(self) -> dict[str, list[Function]]:
        """By a last name that they may call: functions, in the order of the files."""
        table: dict[str, list[Function]] = {}
        for function in self.functions:
            for name in function.called:
                table.setdefault(name, []).append(function)
        return table

    def may_call(self, name: str) -> Sequence[Function]:
        """Wide, and cheap: functions in whose text a call by that last name may stand."""
        return self._callers_of.get(name, ())

    def _calls(self, name: str) -> tuple[Site, ...]:
        if name not in self._known:
            self._known[name] = tuple(self._read(name))
        return self._known[name]

    def _read(self, name: str) -> Iterator[Site]:
        for function in self.may_call(name):
            yield from call_sites(function).get(name, ())

    def first_calls(self, name: str, count: int) -> Iterator[Site]:
        """The first of `calls(name)`: no bodies are read for the others."""
        yield from islice(self._known[name] if name in self._known else self._read(name), count)

    def calls(self, *last_names: str) -> Iterator[Site]:
        """Every call whose last name is one of `last_names`: "step" gives opt.step(), self.opt.step()."""
        for name in last_names:
            yield from self._calls(name)

    def calls_in_files(self, name: str, paths: Collection[str]) -> Iterator[Site]:
        """Of `calls(name)` those in some files: no bodies are read for the others."""
        for function in self.may_call(name):
            if function.path in paths:
                yield from call_sites(function).get(name, ())

    @cached_property
    def _parts(self) -> dict[str, str]:
        """For each file the first file of its part: files that imports connect, in either direction."""
        first: dict[str, str] = {path: path for path in self.files}

        def root(path: str) -> str:
            while first[path] != path:
                first[path] = path = first[first[path]]
            return path

        for path, file in self.files.items():
            for other in self.names.imported(file):
                first[root(path)] = root(other)
        return {path: root(path) for path in first}

    def part(self, path: str) -> str:
        """The part of the project that a file belongs to: imports lead, in any direction, between its
        files only.
        """
        return self._parts[path]

    def calls_in(self, name: str, part: str) -> tuple[Site, ...]:
        """Calls by last name in one part of the project, outside tests."""
        key = (name, part)
        if key not in self._known_in:
            by_part: dict[str, list[Site]] = {}
            for site in self._calls(name):
                if not is_test(site.function.path):
                    by_part.setdefault(self._parts[site.function.path], []).append(site)
            self._known_in.update({(name, one): tuple(found) for one, found in by_part.items()})
            self._known_in.setdefault(key, ())
        return self._known_in[key]
