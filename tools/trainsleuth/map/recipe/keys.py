"""The configuration key that an expression reads."""

from __future__ import annotations

from trainsleuth.facts import Expr


def key_of(expr: Expr) -> str | None:
    """The configuration key that an expression reads: cfg.optim.name and cfg["optim"]["name"] are "optim.name".

    So is cfg["optim"].pop("name"). None for what reads no configuration by a literal key.
    """
    if expr.kind == "path":
        parts = expr.text.removeprefix("self.").split(".")
        return ".".join(parts[1:]) or None
    if expr.kind == "index" and len(expr.parts) == 2 and expr.parts[1].kind == "string":
        base = expr.parts[0]
        inner = key_of(base) if _is_in(base) else ""
        return None if inner is None else ".".join(filter(None, (inner, expr.parts[1].text)))
    if expr.kind == "call" and expr.last in ("pop", "get") and expr.arguments and expr.arguments[0].kind == "string":
        asked = expr.receiver
        inner = key_of(asked) if asked is not None and _is_in(asked) else ""
        return None if inner is None else ".".join(filter(None, (inner, expr.arguments[0].text)))
    return None


def _is_in(holder: Expr) -> bool:
    """A section of the configuration, and not the whole of it."""
    return holder.kind in ("index", "call") or "." in holder.text.removeprefix("self.")
