"""Defaults that decide nothing here: all code that reads them is kept from running by another setting."""

from __future__ import annotations

from ..configuration import Key, Truth
from ..standing import off
from ..statements import enclosing
from .sections import is_set


def is_idle(truth: Truth, key: Key) -> bool:
    """--kd-loss-type, where no teacher is given. What somebody set is told whether it is read or not."""
    if is_set(key) or not key.reads:
        return False
    program, files = truth.program, truth.program.index.files
    return all(
        use.path in files and off(program, truth, enclosing(files[use.path], use.line), use.line) for use in key.reads
    )
