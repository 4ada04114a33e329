"""Calls that put a module into evaluation mode."""

from __future__ import annotations

from ..records import Expr


def is_eval(call: Expr) -> bool:
    """model.eval(), or model.train(False)."""
    if call.receiver is None:
        return False
    if call.last == "eval":
        return not call.parts[1:]
    given = call.argument(0, "mode") if call.last == "train" else None
    return given is not None and given.text == "False"
