"""Files that a call stands among: those that lead to it, and programs beside them that do not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..records import Function

if TYPE_CHECKING:
    from ..index import Index

MAX_CALLERS = 3
_GUARD = re.compile(rb"__name__\s*==")


def files_around(index: Index, function: Function) -> set[str]:
    """The file of a function and those of its callers, MAX_CALLERS calls up."""
    found, waiting = {function.path}, [(function, MAX_CALLERS)]
    while waiting:
        inner, depth = waiting.pop()
        for caller in index.callers(inner) if depth else ():
            found.add(caller.spot.function.path)
            waiting.append((caller.spot.function, depth - 1))
    return found


def other_programs(index: Index, function: Function) -> set[str]:
    """Files that are started by themselves, and that nothing imports that leads to the function: train_one.py beside
    train_many.py.
    """
    near = files_around(index, function)
    started = {path for path, file in index.files.items() if file.body.source.holds(_GUARD)} - near
    used = {one for path in near for one in index.names.imported(index.files[path])} if started else set()
    return started - used
