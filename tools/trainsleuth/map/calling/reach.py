"""What a program reaches: each function with its distance from the entry, and the way there."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from trainsleuth.facts import Function

from .edges import MADE, Edge
from .graph import Graph

MAX_DISTANCE = 30
MAX_FUNCTIONS = 6000


@dataclass(frozen=True)
class Reach:
    """`distance` of every function reached; `parents` is the edge by which, and from where."""

    roots: tuple[Function, ...]
    distance: Mapping[Function, int]
    parents: Mapping[Function, tuple[Function, Edge]]
    files: frozenset[str]

    def way(self, function: Function) -> Iterator[tuple[Function, Edge]]:
        """(caller, edge) from `function` back to the entry."""
        while function in self.parents:
            caller, edge = self.parents[function]
            yield caller, edge
            function = caller


def reach(
    graph: Graph,
    roots: Iterable[Function],
    extra: Iterable[tuple[Function, int]] = (),
    max_distance: int = MAX_DISTANCE,
    detour: int = 0,
) -> Reach:
    """Shortest distances from `roots`; `extra` are functions known to run, at a distance of their own.

    `detour` is what an edge costs besides that is no call: a method of an object that comes into being.
    """
    started, known_to_run = tuple(roots), tuple(extra)
    known = graph.imports(frozenset(root.path for root in started))
    if named := frozenset(one.path for one, _ in known_to_run) - known:  # by a setting alone, and with what they import
        known |= graph.imports(named)
    queue: list[tuple[int, int, Function, Function | None, Edge | None]] = []
    for order, (function, cost) in enumerate([*((root, 0) for root in started), *known_to_run]):
        heapq.heappush(queue, (cost, order, function, None, None))
    order = len(queue)
    distance: dict[Function, int] = {}
    parents: dict[Function, tuple[Function, Edge]] = {}
    while queue and len(distance) < MAX_FUNCTIONS:
        cost, _, function, caller, edge = heapq.heappop(queue)
        if function in distance:
            continue
        distance[function] = cost
        if caller is not None and edge is not None:
            parents[function] = (caller, edge)
        for onward in graph.edges(function):
            if onward.target in distance or (onward.guarded and function not in started):
                continue
            if onward.target.path not in known:
                continue
            further = cost + onward.cost + (detour if onward.cost >= MADE else 0)
            if further <= max_distance:
                order += 1
                heapq.heappush(queue, (further, order, onward.target, function, onward))
    return Reach(started, distance, parents, frozenset(function.path for function in distance))
