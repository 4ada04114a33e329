"""Defaults that decide nothing here: all code that reads them is kept from running by another setting."""

from __future__ import annotations

from trainsleuth.facts import Class, Function

from ...configuration import Key, Truth
from ...configuration.values.come_to_be import COMES_TO_BE
from ...drawing.statements import enclosing
from ...program import Program
from ...programs.standing import off
from .sections import is_set


def is_idle(truth: Truth, key: Key) -> bool:
    """--kd-loss-type, where no teacher is given; what its own class only checks. What somebody set is told whether it
    is read or not.
    """
    if is_set(key) or not key.reads:
        return False
    program, files = truth.program, truth.program.index.files
    if not all(use.path in files for use in key.reads):
        return False
    holder = truth.owners.holder(key)
    readers = ((enclosing(files[use.path], use.line), use.line) for use in key.reads)
    return all(_checks(program, holder, one) or off(program, truth, one, line) for one, line in readers)


def _checks(program: Program, holder: Class | None, reader: Function) -> bool:
    """The settings' own class reads it when an object comes into being."""
    return holder is not None and reader.name in COMES_TO_BE and program.index.class_of(reader) == holder
