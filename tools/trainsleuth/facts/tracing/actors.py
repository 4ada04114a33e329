"""Calls of an actor in another process, read as what they call: worker.update.remote(batch) is worker.update(batch)."""

from __future__ import annotations

import re

from ..records import Expr

REMOTE = ".remote"
_THERE = re.compile(rb"\.\s*remote\b")
_BEFORE = re.compile(rb"(?<!\w)(\w{1,99})\s*\.\s*(?:remote|options)\b")


def called_here(called: Expr) -> Expr:
    """What `called`, which ends in .remote, runs elsewhere: Worker of Worker.options(num_gpus=1).remote."""
    if called.kind == "path":
        name = called.text.removesuffix(REMOTE)
        return called if name == "ray" else Expr("path", name, (), called.line)
    inner = called.parts[0]
    if inner.kind == "call":
        if inner.last == "options" and inner.receiver is not None:
            return inner.receiver
        if inner.callee == "ray.remote" and inner.arguments:
            return inner.arguments[0]
    return inner if inner.kind in ("index", "attr") else called


def called_names(source: bytes) -> set[bytes]:
    """Names that stand before .remote and .options in a text."""
    return set(_BEFORE.findall(source)) if b"remote" in source and _THERE.search(source) else set()
