"""The configuration key that an expression reads."""

from __future__ import annotations

from trainsleuth.facts import Expr


def key_of(expr: Expr) -> str | None:
    """The configuration key that an expression reads: cfg.optim.name and cfg["optim"]["name"] are "optim.name"."""
    if expr.kind == "path":
        parts = expr.text.removeprefix("self.").split(".")
        return ".".join(parts[1:]) or None
    if expr.kind == "index" and len(expr.parts) == 2 and expr.parts[1].kind == "string":
        base = expr.parts[0]
        inner = key_of(base) if base.kind == "index" or "." in base.text else ""
        return None if inner is None else ".".join(filter(None, (inner, expr.parts[1].text)))
    return None
