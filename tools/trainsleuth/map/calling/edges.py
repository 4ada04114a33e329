"""One edge of the call graph: what may run when a function runs, and how far away that is."""

from __future__ import annotations

from typing import NamedTuple

from trainsleuth.facts import Function

# cost of an edge: how far the target is from the caller. PART, a method of an object that comes into being, is a last
# resort: a chain of real calls to the same method should win; MADE, one that its callers call by no name. KEPT, what a
# constructor is handed to call later
DIRECT, CALLBACK, GUESS, IMPORT, MADE, KEPT, PART = 1, 2, 3, 4, 5, 6, 8


class Edge(NamedTuple):
    """`target` may run when the caller runs; `position` is the event of the caller, -1 for none of its own."""

    target: Function
    cost: int
    position: int
    guarded: bool = False  # only when the file is the one that is started


def rank(caller: Function, edge: Edge) -> tuple[int, bool, bool]:
    """Of several calls, those that are repeated first: what is tried once may be tried before the loop.

    Where a function is handed on is a better place than where it is written.
    """
    event = caller.events[edge.position] if edge.position >= 0 else None
    return edge.cost, event is None or not event.block.loops, event is not None and event.kind == "define"
