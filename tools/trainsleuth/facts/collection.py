"""Python's garbage collector, held back while an index is built and read."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_left = False  # something that was built so may be garbage by now


@contextmanager
def no_collection() -> Iterator[None]:
    """Hundreds of thousands of records live until the end: looking for garbage among them takes a third of the time.

    What is left at the end counts as old, which Python hardly ever searches: a process that goes on searches it here,
    before the next.
    """
    global _left
    collecting = gc.isenabled()
    if collecting and _left:
        gc.collect()
        _left = False
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            _left = True
            if not gc.get_freeze_count():  # to the old generation, else the next allocation searches all of them
                gc.freeze()
                gc.unfreeze()
            gc.enable()
