"""Calls that a function cannot be what they call: it takes other arguments."""

from __future__ import annotations

from ..records import Expr, Function


def misses(function: Function, call: Expr, is_method: bool) -> bool:
    """The call gives fewer arguments than the function needs, or more than it takes, whatever calls it."""
    if any(part.kind in ("star", "doublestar") for part in call.parts[1:]):
        return False
    own = [one for one in function.parameters if not one.kind][is_method:]
    needed = sum(one.default is None for one in own)
    takes_any = any(one.kind == "*" for one in function.parameters)
    return len(call.parts) - 1 < needed or (not takes_any and len(call.arguments) > len(own))
