"""Where parameters are frozen and thawed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..memo import kept_per_function
from ..records import Expr, Function, Loop
from ..tracing.callers import Target
from ..tracing.things import Spot
from .order import branches_around

if TYPE_CHECKING:
    from ..index import Index

_LISTING = ("parameters", "named_parameters")

_SWITCHED = re.compile(rb"requires_grad")


class Switch(NamedTuple):
    """requires_grad of all parameters of `path` is turned on or off at `spot`.

    `on` None: to a value that is not written out. Not `is_whole`: only of those that a condition chooses.
    """

    path: str
    spot: Spot
    on: bool | None
    is_whole: bool


def switches(index: Index, function: Function) -> Iterator[Switch]:
    """All in one function, in the order of its events; helpers that are called are looked into once."""
    yield from own_switches(function)
    if function.called.isdisjoint(index.switching_names):
        return
    for position, event in enumerate(function.events):
        for call in event.calls:
            if call.last in index.switching_names:
                yield from _through(index, call, Spot(function, position))


def switching_names(index: Index) -> frozenset[str]:
    """Wide: last names of functions that freeze or thaw by themselves."""
    named = index.functions_by_name()
    return frozenset(name for name, functions in named.items() if any(own_switches(one) for one in functions))


@kept_per_function
def own_switches(function: Function) -> tuple[Switch, ...]:
    """Those that are written in the function itself."""
    return tuple(_own(function)) if function.source.holds(_SWITCHED) else ()


def _own(function: Function) -> Iterator[Switch]:
    for position, event in enumerate(function.events):
        spot = Spot(function, position)
        for call in event.calls:
            if call.last in ("requires_grad_", "requires_grad") and call.receiver is not None:
                yield from _switch(call.receiver, spot, _flag(call.argument(0, "requires_grad"), True), True)
        for target in event.targets if event.kind == "assign" else ():
            if target.last == "requires_grad" and target.receiver is not None:
                yield from _switch(target.receiver, spot, _flag(event.value, None), True)


def _flag(expr: Expr | None, default: bool | None) -> bool | None:
    if expr is None:
        return default
    return {"True": True, "False": False}.get(expr.text)


def _switch(what: Expr, spot: Spot, on: bool | None, is_whole: bool) -> Iterator[Switch]:
    """Of `model.requires_grad_(...)`, or of a parameter p from a loop over model.parameters()."""
    block = spot.function.events[spot.position].block
    if what.kind != "path":
        return
    for place in reversed(block.loops):
        loop = spot.function.loops[place]
        names = [part.text for part in loop.target.walk()] if loop.target is not None else []
        if what.text not in names or loop.source is None:
            continue
        is_whole = block.branches == branches_around(spot.function, loop) and loop.source.kind == "call"
        for part in _beside(loop, what.text).walk():
            if part.kind == "call" and part.last in _LISTING and part.receiver is not None:
                yield Switch(part.receiver.text, spot, on, is_whole)
        return
    yield Switch(what.text, spot, on, is_whole)


def _beside(loop: Loop, name: str) -> Expr:
    """What `name` goes over: of `for p, q in zip(a.parameters(), b.parameters())` the one at its place."""
    assert loop.source is not None and loop.target is not None
    names = [part.text for part in loop.target.parts]
    if loop.source.last == "zip" and name in names and len(names) == len(loop.source.arguments):
        return loop.source.arguments[names.index(name)]
    return loop.source


def _through(index: Index, call: Expr, spot: Spot) -> Iterator[Switch]:
    """A helper that freezes what it is given."""
    for target in index.calling.targets(call, spot):
        if not isinstance(target, Target) or target.function is spot.function:
            continue
        for inner in own_switches(target.function):
            head, dot, rest = inner.path.partition(".")
            given = index.flow.given(target.function, call, head, target.owner is not None)
            if given is not None and given.kind == "path":
                block = target.function.events[inner.spot.position].block
                on = inner.on if inner.on is not None else _given_flag(index, target, call, inner)
                yield Switch(f"{given.text}{dot}{rest}", spot, on, inner.is_whole and not block.branches)


def _given_flag(index: Index, target: Target, call: Expr, inner: Switch) -> bool | None:
    """set_requires_grad(model, False): the flag is an argument."""
    event = inner.spot.function.events[inner.spot.position]
    value = event.value
    if value is not None and value.kind == "call":
        value = value.argument(0, "requires_grad")
    if value is None or value.kind != "path":
        return None
    return _flag(index.flow.given(target.function, call, value.text, target.owner is not None), None)
