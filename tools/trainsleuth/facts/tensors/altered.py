"""Containers of layers that are changed after they were made: net[-1] = nn.Identity(), net.append(nn.LogSoftmax(1))."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..naming.sites import is_test
from ..records import Event, Expr, Function
from ..tracing.things import Instance, Spot

if TYPE_CHECKING:
    from ..index import Index

_GIVING = frozenset(["append", "insert", "add_module", "register_module"])
_TEXT = tuple(
    map(
        re.compile,
        (
            *(rb"\.%s\([^()\n]*\b[A-Z]\w*\(" % name.encode() for name in sorted(_GIVING)),
            rb"\.pop\(\s*-?\d",
            rb"\[-?\d+\]\s*=[ \t]*[\w.]*\b[A-Z]\w*\(",
            rb"del\s[^\n]*\[-?\d+\]",
        ),
    )
)


def altered(index: Index) -> dict[tuple[str, int], str]:
    """The containers by the file and line that make them, each with the first place that changes it."""
    found: dict[tuple[str, int], str] = {}
    for function in index.functions_holding(*_TEXT):
        for position, event in enumerate(() if is_test(function.path) else function.events):
            for receiver in _changed(event):
                for thing in index.objects.of(receiver, Spot(function, position)):
                    if isinstance(thing, Instance) and thing.call is not None and thing.spot is not None:
                        made = (thing.spot.function.path, thing.call.line)
                        found.setdefault(made, f"{function.path}:{event.line}")
    return found


def set_by_name(function: Function) -> Iterator[tuple[str, int]]:
    """(attribute, line) of setattr(net, "head", ...) and net._modules["head"] = ..., where net is not self."""
    for event in function.events if not is_test(function.path) else ():
        for call in event.calls if "setattr" in function.called else ():
            given = call.arguments if call.callee == "setattr" else ()
            if len(given) == 3 and given[1].kind == "string" and given[0].text != function.self_name:
                yield given[1].text, event.line
        for target in event.targets:
            if target.kind == "index" and target.parts[0].last == "_modules" and target.parts[-1].kind == "string":
                yield target.parts[-1].text, event.line


def _changed(event: Event) -> Iterator[Expr]:
    for call in event.calls:
        given = call.arguments
        is_given = call.last in _GIVING and any(map(_makes_layer, given))
        if call.receiver is not None and (is_given or (call.last == "pop" and given and _is_place(given[0]))):
            yield call.receiver
    for target in event.targets:
        if target.kind == "index" and len(target.parts) == 2 and _is_place(target.parts[1]):
            if event.kind == "delete" or (event.value is not None and _makes_layer(event.value)):
                yield target.parts[0]


def _makes_layer(expr: Expr) -> bool:
    """A call of something that is named like a class."""
    return expr.kind == "call" and expr.last[:1].isupper()


def _is_place(expr: Expr) -> bool:
    return expr.kind == "number" or (expr.kind == "unary" and expr.parts[0].kind == "number")
