"""Python's garbage collector, held back while an index is built and read."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """Hundreds of thousands of records live until the end: looking for garbage among them takes a third of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            if not gc.get_freeze_count():  # to the old generation, else the next allocation searches all of them
                gc.freeze()
                gc.unfreeze()
            gc.enable()
