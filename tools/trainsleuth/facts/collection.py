"""Python's garbage collector, held back while an index is built and read."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from trainsleuth.repository import Repository

if TYPE_CHECKING:
    from .index import Index

MUCH = 500_000  # blocks of memory, about 50 MB: more than that is not left to pile up
_after = 0  # blocks in use when garbage was last looked for
_done: list[Index] = []


@contextmanager
def no_collection() -> Iterator[None]:
    """Hundreds of thousands of records live until the end: looking for garbage among them takes a third of the time.

    What is left at the end counts as old, which Python hardly ever searches: a process that goes on searches it here,
    before the next, when it has grown by `MUCH`.
    """
    global _after
    while _done:
        _forget(_done.pop())
    collecting = gc.isenabled()
    if collecting and sys.getallocatedblocks() - _after > MUCH:
        gc.collect()
        _after = sys.getallocatedblocks()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            if not gc.get_freeze_count():  # to the old generation, else the next allocation searches all of them
                gc.freeze()
                gc.unfreeze()
            gc.enable()


def let_go(index: Index) -> None:
    """Forget all of an index that nobody asks any more, before the next one is read: a process that ends need not.

    Its parts know each other, and functions keep answers that are about themselves, so left alone all of it waits for a
    search through the whole memory: a sixth of the time, and a million blocks, where one process searches many projects.
    """
    _done.append(index)


def _forget(index: Index) -> None:
    files = index.files
    for part in list(vars(index).values()):
        if hasattr(part, "__dict__") and not isinstance(part, Repository):
            vars(part).clear()
    vars(index).clear()
    for file in files.values():
        for function in file.functions.values():
            vars(function).clear()
