"""Which files of a project a file brings with it, and which are started by themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Index
from trainsleuth.repository import is_notebook

_PROGRAM = re.compile(rb"__name__\s*==")


def imported(index: Index, path: str) -> list[str]:
    """A file and those of the project that it imports, at any depth."""
    found = [path]
    for one in found:
        found += [other for other in dict.fromkeys(_direct(index, one)) if other not in found]
    return found


def is_program(index: Index, path: str) -> bool:
    """It is started by itself: it says so, or no other file imports it."""
    if is_notebook(path) or index.files[path].body.source.holds(_PROGRAM):
        return True
    return not any(path in _direct(index, one) for one in index.files if one != path)


def _direct(index: Index, path: str) -> Iterator[str]:
    for entry in index.files[path].imports:
        for dotted in (entry.module, f"{entry.module}.{entry.name}" if entry.name else entry.module):
            module = index.names.module(path, dotted, entry.level)
            if module is not None and module.path:
                yield module.path
