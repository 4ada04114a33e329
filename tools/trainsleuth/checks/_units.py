"""Is a count written in epochs or in batches?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Expr, Index, Spot, makers, written
from trainsleuth.facts.tracing.numbers import whole_number

_EPOCHS = re.compile(r"(^|_|\.)(n|num|max|total|n_?)?_?epochs?($|_)", re.IGNORECASE)
_STEPS = re.compile(
    r"steps?_per_epoch|iters?_per_epoch|(max|total|num|n|train|training)_?(steps|iters|iterations|batches)",
    re.IGNORECASE,
)
_DATA = re.compile(r"load|batch|data|(^|_)dl($|_)|train", re.IGNORECASE)


def unit_of(index: Index, length: Expr, spot: Spot, epoch_counts: list[tuple[Expr, Spot]]) -> str:
    """ "epoch", "batch", or "" when the expression does not say. `epoch_counts`: what the loops over epochs count to."""
    texts = spelled_out(index, length, spot, 5)
    if any(part.kind == "call" and part.last == "len" and _DATA.search(written(part)) for part in texts):
        return "batch"
    names = [part.text for part in texts if part.kind == "path"]
    names += [part.parts[1].text for part in texts if _is_keyed(part)]
    if any(_STEPS.search(name) for name in names):
        return "batch"
    if any(part.kind == "call" or (part.kind == "binary" and part.text in ("*", "%")) for part in texts):
        return "" if not _all_epochs(texts) else "epoch"
    if any(_EPOCHS.search(name) for name in names):
        return "epoch"
    own = whole_number(index, length, spot)
    ends = [whole_number(index, end, at) for end, at in epoch_counts]
    if own is not None and ends and all(end is not None and end > 1 and 1 < own <= end for end in ends):
        return "epoch"
    return ""


def _all_epochs(texts: list[Expr]) -> bool:
    """A product of an epoch count and plain numbers, or of epoch counts through int(), is one of epochs."""
    names = [part.text for part in texts if part.kind == "path"]
    plain = ("int", "max", "min", "round")
    named = [name for name in names if name not in plain]
    return bool(named) and all(_EPOCHS.search(name) for name in named)


def spelled_out(index: Index, expr: Expr, spot: Spot, depth: int) -> list[Expr]:
    """All parts of an expression; names replaced by what they were given, if that is written out."""
    found: list[Expr] = []
    for part in _walk(expr):
        found.append(part)
        if part.kind == "path" and depth and not _EPOCHS.search(part.text):
            for made, at in makers(index, part, spot, 3):
                if made is not part and made.kind in ("binary", "call", "path", "number", "list"):
                    found += spelled_out(index, made, at, depth - 1)
    return found


def _walk(expr: Expr) -> Iterator[Expr]:
    """What an object is made of says nothing of what its key holds."""
    yield expr
    if not _is_keyed(expr):
        for part in expr.parts:
            yield from _walk(part)


def _is_keyed(part: Expr) -> bool:
    """config["epochs"]"""
    return part.kind == "index" and len(part.parts) == 2 and part.parts[1].kind == "string"
