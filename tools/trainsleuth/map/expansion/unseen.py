"""Settings of the command that nothing in the code of the run is seen to read."""

from __future__ import annotations

import re

from ..configuration import Key, Truth

_DOTTED = re.compile(r"\w+(?:\.\w+)+")


def is_unseen(truth: Truth, key: Key) -> bool:
    """No line reads it, and neither a framework nor another name under which it is handed on may."""
    source = key.source
    if source is None or source.how != "command" or key.reads or key.uses not in ("unread", "unknown"):
        return False
    if any(truth.program.is_reached(read.function) for read in truth.reads.of_any(key.name.rpartition(".")[2])):
        return False
    return truth.program.training.framework is None and key.name in truth.offered and not _is_renamed(truth, key)


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
