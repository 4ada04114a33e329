"""What can be reached in a graph from each of many nodes, when most of them reach the same."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

Node = TypeVar("Node", bound=Hashable)


class Reachable(Generic[Node]):
    """`own` gives the bits that a node has by itself; `of` those of it and of everything behind it.

    Nodes in a circle share one answer (Tarjan's strongly connected components, without recursion).
    """

    def __init__(self, onward: Callable[[Node], Iterable[Node]], own: Callable[[Node], int]) -> None:
        self._onward = onward
        self._own = own
        self._known: dict[Node, int] = {}

    def of(self, node: Node) -> int:
        if node not in self._known:
            self._search(node)
        return self._known[node]

    def _search(self, start: Node) -> None:
        order: dict[Node, int] = {start: 0}  # when a node was met
        lowest = [0]  # by that: the earliest node of its circle seen so far
        bits = [self._own(start)]
        circle = [start]
        path = [(start, iter(self._onward(start)))]
        while path:
            node, waiting = path[-1]
            place = order[node]
            for other in waiting:
                if other in self._known:
                    bits[place] |= self._known[other]
                elif other in order:
                    lowest[place] = min(lowest[place], order[other])
                else:
                    order[other] = len(order)
                    lowest.append(order[other])
                    bits.append(self._own(other))
                    circle.append(other)
                    path.append((other, iter(self._onward(other))))
                    break
            else:
                path.pop()
                if lowest[place] == place:
                    self._close(circle, node, bits, order)
                if path:
                    before = order[path[-1][0]]
                    lowest[before] = min(lowest[before], lowest[place])
                    bits[before] |= bits[place]

    def _close(self, circle: list[Node], first: Node, bits: list[int], order: dict[Node, int]) -> None:
        """What was met since `first`, and is in no circle yet, is one."""
        closed = [circle.pop()]
        while closed[-1] != first:
            closed.append(circle.pop())
        found = 0
        for node in closed:
            found |= bits[order[node]]
        self._known.update(dict.fromkeys(closed, found))
