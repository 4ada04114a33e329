"""Options that no parser offers, because code makes them of others: args.method = "plain" if args.plain else "paired"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from trainsleuth.facts import Expr, Function

from .asked_settings import HOLDS
from .attribute_values import Runs
from .scope import Scope

if TYPE_CHECKING:
    from ...program import Program

SetAt = Mapping[str, tuple[tuple[Function, int], ...]]


def options_set(program: Program) -> SetAt:
    """Where code that the program reaches sets an option of what holds its settings, by the name of the option."""
    found: dict[str, list[tuple[Function, int]]] = {}
    for function, _ in program.functions():
        for position, event in enumerate(function.events):
            for target in event.targets if event.kind in ("assign", "augment") else ():
                holder, _, name = target.text.partition(".") if target.kind == "path" else ("", "", "")
                if name and "." not in name and HOLDS.search(holder):
                    found.setdefault(name, []).append((function, position))
    return {name: tuple(places) for name, places in found.items()}


def set_option(scope: Scope, expr: Expr, runs: Runs) -> tuple[Scope, Expr] | None:
    """Where args.method is set by the only statement that does so, which runs, and to what."""
    holder, _, name = expr.text.partition(".") if expr.kind == "path" else ("", "", "")
    places = scope.truth.options_set.get(name, ()) if HOLDS.search(holder) and scope.hops else ()
    if len(places) != 1:
        return None
    function, position = places[0]
    event, there = function.events[position], scope.at(function, position)
    is_later = function is scope.function and position >= scope.position
    if is_later or event.kind != "assign" or event.block.loops or event.value is None or len(event.targets) != 1:
        return None
    return (there, event.value) if event.targets[0].kind == "path" and runs(there) else None
