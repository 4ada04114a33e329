"""The configuration as it is: every key with its effective value, what sets it in which order, and who reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..configuration import Key, Truth
from ..parts import clean
from .writing import Block

_MATTERS = re.compile(
    r"lr|rate|batch|epoch|step|iter|optim|sched|warm|decay|loss|clip|accum|seed|model|arch|data|amp|fp16|precision|"
    r"momentum|beta|eps|drop|dim|layer|head|hidden|depth|width|size|eval|save|log|ckpt|resume|ema|weight|worker",
    re.I,
)
_SIDE = re.compile(r"path|dir|name|url|port|rank|device|verbose|help|tag|note|id$", re.I)


def blocks(truth: Truth) -> Iterator[Block]:
    """One block for each key, those that decide the training first."""
    for place, key in sorted(enumerate(truth.keys), key=lambda pair: (-_worth(pair[1]), pair[0])):
        heading = "# read by nothing in the files that were read" if key.uses == "unread" else "# keys"
        yield Block((heading,), (place,), (f" {_line(truth, key)}",), key.to_dict())


def _worth(key: Key) -> float:
    words = key.name.rpartition(".")[2]
    changed = len({layer.value for layer in key.layers}) > 1
    side = _SIDE.search(words) is not None and key.uses != "unread"
    return 3 * changed + 2 * bool(_MATTERS.search(words)) + bool(key.reads) + 2 * (key.uses == "unread") - 2 * side


def _line(truth: Truth, key: Key) -> str:
    shown = clean(truth.effective(key.value) if key.value else "?", 60)
    said = [f"{key.name} = {shown}"]
    source = key.source
    for layer in key.layers:
        where = f"{layer.path}:{layer.line}" if layer.path else "given command"
        word = "set" if layer is source else "may be" if not layer.certain else "default" if layer.how == "default" else "before"  # fmt: skip
        value = "" if layer is source else f" {clean(layer.value, 40)}"
        said.append(f"{word}{value} {where}")
    return " · ".join([*said[:5], *_used(key)])


def _used(key: Key) -> Iterator[str]:
    if key.reads:
        more = f" +{len(key.reads) - 2}" if len(key.reads) > 2 else ""
        yield "read " + ", ".join(f"{use.path}:{use.line}" for use in key.reads[:2]) + more
    elif key.uses == "given":
        yield f"given to {key.taker}"
    elif key.uses == "unread":
        yield "unread"
