"""Settings of the command, or of a recipe, that nothing in the code of the run is seen to read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..forms.command_line import LAUNCHING
from ..records import Key

if TYPE_CHECKING:
    from ..truth import Truth

_DOTTED = re.compile(r"\w+(?:\.\w+)+")


def is_unseen(truth: Truth, key: Key) -> bool:
    """No line reads it, and neither a framework nor another name under which it is handed on may."""
    source = key.source
    if key.name in LAUNCHING:
        return False
    if source is not None and source.how == "file":
        return key.uses == "unknown" and not key.reads and _is_odd(truth, key, source.path)
    if source is None or source.how != "command" or key.reads or key.uses not in ("unread", "unknown"):
        return False
    if any(truth.program.is_reached(read.function) for read in truth.reads.of_any(key.name.rpartition(".")[2])):
        return False
    if truth.program.training.framework is not None or key.name not in truth.offered or truth.is_handed_out:
        return False
    return not _is_renamed(truth, key) and not _is_parameter(truth, key)


def _is_parameter(truth: Truth, key: Key) -> bool:
    """Of a function that a command line calls, whose code reads it as any name: fire.Fire(train)."""
    first = key.layers[0]
    file = truth.program.index.files.get(first.path)
    found = (function.parameter(key.name) for function in (file.functions.values() if file is not None else ()))
    return any(one is not None and one.default is not None and one.default.line == first.line for one in found)


def _is_odd(truth: Truth, key: Key, path: str) -> bool:
    """No code says its name in any way, though it reads most keys of its file by theirs: save_embeds, for save_embed."""
    if truth.reads.is_said(key.name.rpartition(".")[2]):
        return False
    if path not in truth.mostly_read:
        beside = [one for one in truth.keys if one.source is not None and one.source.path == path]
        read = sum(one.uses == "read" for one in beside)
        truth.mostly_read[path] = len(beside) >= MANY and read >= MOST_READ * len(beside)
    return truth.mostly_read[path]


MANY = 8  # keys of a file
MOST_READ = 0.8


def _is_renamed(truth: Truth, key: Key) -> bool:
    """What defines it says where it goes: lr: float = field(default=0.1, metadata={"node": "train.optimizer.lr"})."""
    cls, last = truth.owners.holder(key), key.name.rpartition(".")[2]
    defined = (
        (event.value for event in cls.body.events if any(one.text == last for one in event.targets)) if cls else ()
    )
    return any(
        part.kind == "string" and _DOTTED.fullmatch(part.text)
        for value in defined
        if value is not None
        for part in value.walk()
    )
