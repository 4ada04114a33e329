"""The configuration key that an expression reads."""

from __future__ import annotations

import re

from trainsleuth.facts import Expr

_HOLDERS = re.compile(r"^(?:(?:hparams|config|cfg|conf|args|opt|params)\.)+")  # that hold the whole configuration


def key_of(expr: Expr) -> str | None:
    """The configuration key that an expression reads: cfg.optim.name and cfg["optim"]["name"] are "optim.name".

    So is cfg["optim"].pop("name"). None for what reads no configuration by a literal key.
    """
    if expr.kind == "path":
        parts = expr.text.removeprefix("self.").split(".")
        return ".".join(parts[1:]) or None
    if expr.kind == "index" and len(expr.parts) == 2 and expr.parts[1].kind == "string":
        base = expr.parts[0]
        inner = key_of(base) if base.kind == "index" or "." in base.text else ""
        inner = inner if inner is None else _HOLDERS.sub("", f"{inner}.").rstrip(".")
        return None if inner is None else ".".join(filter(None, (inner, expr.parts[1].text)))
    if expr.kind == "call" and expr.last in ("pop", "get") and expr.arguments and expr.arguments[0].kind == "string":
        asked = expr.receiver
        inner = key_of(asked) if asked is not None and (asked.kind in ("index", "call") or "." in asked.text) else ""
        return None if inner is None else ".".join(filter(None, (inner, expr.arguments[0].text)))
    return None
