"""Settings in Python that hand values to the parameters of others by name: config("Agent", policy=Sac, lr=1e-3)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from trainsleuth.facts import ConfigValue, Expr, Function

from .literals import is_literal, text_of

_CALLED = frozenset({"config", "bind_parameter"})
_CALLS = re.compile(rb"^[\w.]*\b(?:config|bind_parameter)\(\s*[\"'][\w./]+[\"']\s*,", re.M)
_NAME = re.compile(r"[A-Za-z_][\w./]*")
_WRAPS = ("partial",)


def configures(body: Function) -> bool:
    """The file may hand values to parameters of others by name."""
    return not body.called.isdisjoint(_CALLED) and body.source.holds(_CALLS)


def configured_by_calls(body: Function) -> Iterator[tuple[str, ConfigValue]]:
    """Each value by whose parameter it is, and its name: "Agent.policy"; a class or a function as "@Sac"."""
    bound: dict[str, Expr] = {}
    for event in body.events:
        if event.kind == "assign" and event.value is not None:
            bound.update((target.text, event.value) for target in event.targets if target.kind == "path")
        for call in event.calls:
            for key, value in _handed(call):
                yield key, ConfigValue(_written(value, bound), value.line)


def _handed(call: Expr) -> Iterator[tuple[str, Expr]]:
    first = call.arguments[0] if call.arguments else None
    if first is None or first.kind != "string" or not _NAME.fullmatch(first.text):
        return
    if call.last == "config" and len(call.arguments) == 1:
        yield from ((f"{first.text}.{one.text}", one.parts[0]) for one in call.parts[2:] if one.kind == "keyword")
    elif call.last == "bind_parameter" and len(call.arguments) == 2:
        yield first.text, call.arguments[1]


def _written(value: Expr, bound: Mapping[str, Expr]) -> str:
    known = bound.get(value.text) if value.kind == "path" else value
    if known is None:  # imported
        return f"@{value.text}"
    if is_literal(known):
        return text_of(known)
    if known.kind == "path":
        return f"@{known.text}"
    if known.kind == "call" and known.last in _WRAPS and known.arguments and known.arguments[0].kind == "path":
        return _written(known.arguments[0], {name: one for name, one in bound.items() if one is not known})
    return f"@{known.callee}()" if known.kind == "call" and known.callee else text_of(known)
