"""Statements that bind the result of a call: the call, and the names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainsleuth.facts import Event, Expr, plain_name

_SEEN_THROUGH = ("choice", "await", "boolean", "list", "tuple", "each", "dict", "pair")


def bound_call(event: Event) -> Expr | None:
    """The call whose result a statement binds, seen through a choice and an await."""
    value = event.value if event.kind == "assign" else None
    while value is not None and value.kind in _SEEN_THROUGH:
        value = next((part for part in value.parts if part.kind in ("call", *_SEEN_THROUGH)), None)
    return value if value is not None and value.kind == "call" else None


def bound_names(event: Event) -> Iterator[str]:
    """The last name of each path that a statement binds: "optimizer" for self.optimizer."""
    for target in event.targets:
        for one in target.parts if target.kind in ("tuple", "list") else (target,):
            if one.kind == "path":
                yield one.last


def names_given(calls: Iterable[Expr]) -> Iterator[tuple[str, int]]:
    """The last name of each call, of its keywords, and of the option that it adds to a command line; with the line."""
    for call in calls:
        yield call.last, call.line
        for part in call.parts[1:]:
            if part.kind == "keyword":
                yield part.text, part.line
            elif part.kind == "string" and part.text.startswith("--"):
                yield plain_name(part.text), part.line
