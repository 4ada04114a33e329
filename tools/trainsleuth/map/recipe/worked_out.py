"""Settings that code works out from others before anybody asks them: args.mode = "sup", where args.share == 1.0."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from trainsleuth.facts import Event, Expr, Function, Index

from .branches import HOLDS, LITERALS, Settled, arms_of, is_left, is_taken


class _Given(NamedTuple):
    function: Function
    event: Event


def with_worked_out(index: Index, reached: Iterable[Function], known: Mapping[str, str]) -> dict[str, str]:
    """`known` settings, and those that get one of several literals by tests that `known` decides, and nothing else ever."""
    assigned: dict[str, list[_Given]] = {}
    for function in reached:
        for event in function.events:
            for target in event.targets if event.kind in ("assign", "augment") else ():
                words = target.text.split(".") if target.kind == "path" else ()
                if len(words) == 2 and HOLDS.search(words[0]) and words[1] not in known:
                    assigned.setdefault(words[1], []).append(_Given(function, event))
    found = dict(known)
    for name, given in assigned.items() if known else ():
        taken = [one for one in given if not _is_left(index, one, known)]
        decides = len(given) > 1 or _chooses(given[0].event.value)
        if decides and len(taken) == 1 and (value := _sure(index, taken[0], known)) is not None:
            found[name] = value
    return found


def _is_left(index: Index, given: _Given, known: Mapping[str, str]) -> bool:
    return any(is_left(branch, Settled(known, index, given.function)) for branch in given.event.block.branches)


def _chooses(value: Expr | None) -> bool:
    """A if test else B"""
    return value is not None and value.kind == "choice"


def _sure(index: Index, given: _Given, known: Mapping[str, str]) -> str | None:
    """The literal, where all tests around it are seen to hold."""
    value, settled = given.event.value, Settled(known, index, given.function)
    if value is not None and _chooses(value):
        arms = arms_of(value, settled)
        value = arms[0] if len(arms) == 1 else None
    if value is None or value.kind not in LITERALS or given.event.kind != "assign" or given.event.block.loops:
        return None
    return value.text.lower() if all(is_taken(branch, settled) for branch in given.event.block.branches) else None
