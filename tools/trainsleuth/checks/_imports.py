"""Which files of a project a file brings with it, and which are started by themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Index
from trainsleuth.facts.memo import kept_per_index
from trainsleuth.repository import is_notebook

_PROGRAM = re.compile(rb"__name__\s*==")


@kept_per_index
def imported(index: Index, path: str) -> tuple[str, ...]:
    """A file and those of the project that it imports, at any depth."""
    found = {path: None}
    waiting = [path]
    while waiting:
        new = [one for one in dict.fromkeys(_direct(index, waiting.pop())) if one not in found]
        found.update(dict.fromkeys(new))
        waiting += new
    return tuple(found)


def is_of_one_program(index: Index, path: str, other: str) -> bool:
    """One of the two files brings the other with it, or a third brings both."""
    if other in imported(index, path) or path in imported(index, other):
        return True
    return any(path in both and other in both for both in (imported(index, one) for one in index.files))


def is_program(index: Index, path: str) -> bool:
    """It is started by itself: it says so, or no other file imports it."""
    if is_notebook(path) or index.files[path].body.source.holds(_PROGRAM):
        return True
    return not any(path in _direct(index, one) for one in index.files if one != path)


@kept_per_index
def _direct(index: Index, path: str) -> tuple[str, ...]:
    return tuple(_named(index, path))


def _named(index: Index, path: str) -> Iterator[str]:
    for entry in index.files[path].imports:
        for dotted in (entry.module, f"{entry.module}.{entry.name}" if entry.name else entry.module):
            module = index.names.module(path, dotted, entry.level)
            if module is not None and module.path:
                yield module.path
