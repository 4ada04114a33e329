"""Settings of the command that never get to the code that is meant: --loss_norm, where the class that asks for
self.loss_norm is made without it and keeps its default."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..forms.literals import plain
from ..records import Key, Use
from ..values.evaluated import attribute

if TYPE_CHECKING:
    from ..truth import Truth
    from .reads import Read


def missed(truth: Truth, key: Key, reads: Sequence[Read]) -> tuple[Use, str] | None:
    """The first of the `reads` of a key of the command, and what is read there instead; None where any may read it."""
    if not reads or key.source is None or key.source.how != "command" or _is_quoted(truth, key.name):
        return None
    found: list[tuple[Use, str]] = []
    for read in reads:
        holder, _, name = read.text.rpartition(".")
        said: list[Key] = []
        value = attribute(truth, read.function, name, said) if holder == read.function.self_name else None
        if value is None or any(one.source == key.source for one in said):
            return None
        found.append((Use(read.function.path, read.line), value))
    return None if any(_are_alike(value, key.value) for _, value in found) else found[0]


def _is_quoted(truth: Truth, name: str) -> bool:
    """Code of the run has the name in quotes: it may read it by a function of its own."""
    quoted = re.compile(rf"[\"']{re.escape(name)}[\"']".encode())
    return any(one.source.holds(quoted) for one in truth.program.entry.reach.distance)


def _are_alike(value: str, other: str) -> bool:
    return value.lower() == other.lower() or plain(value) == plain(other)
