"""The way from the entry down to a function: by calls that really happen, through what is repeated."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from trainsleuth.facts import Class, Function, Index, Loop

from .edges import CALLBACK, DIRECT, MADE, Edge
from .graph import Graph
from .reach import MAX_DISTANCE, Reach, reach

MAX_CALLERS = 4  # of one function
_BEFORE = re.compile(r"pre_?train|warm_?up|sanity|profil", re.I)
FAR = 20  # a way that is no chain of calls counts as so much longer
Way = tuple[tuple[Function, Edge], ...]


@dataclass(frozen=True, eq=False)
class Ways:
    """Answers are kept. `looped` are functions in which a loop goes around what trains."""

    index: Index
    graph: Graph
    reach: Reach
    looped: frozenset[Function]
    _ways: dict[Function, Way] = field(default_factory=dict)

    def back(self, function: Function) -> Way:
        """(caller, edge) from `function` back to the entry: the shortest way on which something is repeated, if any is."""
        if function not in self._ways:
            way = self._repeated(function, tuple(self._shortest(function)))
            self._ways[function] = self._later(function, way) or way
        return self._ways[function]

    def _later(self, function: Function, way: Way) -> Way | None:
        """Another way where this one leads through what is done before the training itself: _pretrain(), warm_up()."""
        if any(_BEFORE.search(root.path) for root in self.reach.roots):
            return None
        for hop, (caller, _) in enumerate(way):
            if _BEFORE.search(caller.name):
                called = way[hop - 1][0] if hop else function
                near = sorted(self._callers.get(called, ()), key=lambda pair: self.reach.distance[pair[0]])
                for other, edge in near:
                    rest = ((other, edge), *self._repeated(other, tuple(self._shortest(other))))
                    if not any(_BEFORE.search(one.name) or one in (called, function) for one, _ in rest):
                        return self._repeated(function, (*way[:hop], *rest))
                return None
        return None

    def is_repeated(self, function: Function) -> bool:
        """A loop is on the way to it, or in it around what trains."""
        return function in self.looped or any(_in_loop(caller, edge) for caller, edge in self.back(function))

    def loops_down_to(self, function: Function) -> Iterator[tuple[Function, Loop, int]]:
        """Loops on the way from the entry to `function`, inner first: (where, loop, line of the call in it)."""
        for caller, edge in self.back(function):
            if edge.position < 0:
                continue
            for number in reversed(caller.events[edge.position].block.loops):
                yield caller, caller.loops[number], line_of_call(caller, edge)

    def calls_down_to(self, function: Function) -> Iterator[tuple[Function, int, Function]]:
        """Calls down to `function`, from that of what holds the outermost loop: inner first, (where, line, target)."""
        way, looped = self._called(function)
        for caller, edge in way[:looped]:
            yield caller, line_of_call(caller, edge), edge.target

    def calls_above(self, function: Function) -> Iterator[tuple[Function, int]]:
        """The calls from the entry down to that of what holds the outermost loop, nearest first: (where, line)."""
        way, looped = self._called(function)
        for caller, edge in way[looped:]:
            yield caller, line_of_call(caller, edge)

    def _called(self, function: Function) -> tuple[Way, int]:
        """The calls on the way, and how many of them are down from that of what holds the outermost loop."""
        way = tuple((caller, edge) for caller, edge in self.back(function) if edge.position >= 0)
        looped = [rank for rank, (caller, edge) in enumerate(way) if _in_loop(caller, edge)]
        return way, looped[-1] + 2 if looped else 0

    def direct_calls(self, function: Function) -> Iterator[tuple[Function, int]]:
        """Where `function` itself is called, nearest first: (where, line)."""
        near = sorted(self._callers.get(function, ()), key=lambda pair: self.reach.distance[pair[0]])
        yield from ((caller, line_of_call(caller, edge)) for caller, edge in near[:MAX_CALLERS] if edge.cost == DIRECT)

    def around(self, function: Function, hops: int) -> Iterator[Function]:
        """What calls it, and what calls that, up to so many calls; what it stands in, and what it calls itself."""
        yield from (edge.target for edge in self.graph.edges(function))
        seen = {function}
        near = [function]
        for _ in range(hops):
            above = (caller for one in near for caller, _ in self._callers.get(one, ()))
            outer = (self.index.files[one.path].functions.get(one.outer) for one in near if one.outer)
            near = [one for one in dict.fromkeys((*above, *outer)) if one is not None and one not in seen]
            seen.update(near)
            yield from near

    def _repeated(self, function: Function, way: Way) -> Way:
        if function in self.looped or any(_in_loop(caller, edge) for caller, edge in way):
            return way
        called = [function, *(caller for caller, _ in way)]
        for hop, one in enumerate(called):
            again = ((caller, edge) for caller, edge in self._callers.get(one, ()) if _in_loop(caller, edge))
            found = min(again, key=lambda pair: self.reach.distance[pair[0]], default=None)
            if found is not None and found[0] not in called:
                return (*way[:hop], found, *self._shortest(found[0]))
        return way

    @cached_property
    def _callers(self) -> Mapping[Function, list[tuple[Function, Edge]]]:
        """Every reached call of a function that is seen to be one."""
        found: dict[Function, list[tuple[Function, Edge]]] = {}
        for caller in self.reach.distance:
            for edge in self.graph.edges(caller):
                if edge.position >= 0 and edge.cost <= CALLBACK:
                    found.setdefault(edge.target, []).append((caller, edge))
        return found

    def _shortest(self, function: Function) -> Iterator[tuple[Function, Edge]]:
        """A method that the class of `function` overrides does not run: what overrides it does."""
        owner, parents = self.index.class_of(function), self._by_calls.parents
        seen = {function}
        while function in parents:
            caller, edge = parents[function]
            inner = self._of_own_class(function, seen) if edge.cost >= MADE or _is_making(caller, edge) else None
            caller, edge = inner or self._overriding(owner, caller, function) or (caller, edge)
            yield caller, edge
            function = caller
            seen.add(function)

    def _of_own_class(self, function: Function, seen: Collection[Function]) -> tuple[Function, Edge] | None:
        """The call by another method of the object, of which only its making is seen: run() that calls step()."""
        owner = self.index.class_of(function)
        for caller, edge in self._callers.get(function, ()) if owner is not None else ():
            above = self.index.class_of(caller)
            if above is not None and caller not in seen and (above is owner or owner in self.index.lineage(above)):
                return caller, edge
        return None

    @cached_property
    def _by_calls(self) -> Reach:
        """What is reached, by real calls wherever there are any."""
        known = self.reach
        started = [(one, cost + FAR * bool(cost)) for one, cost in known.distance.items() if one not in known.parents]
        return reach(self.graph, known.roots, started, FAR * MAX_DISTANCE, FAR)

    def _overriding(self, owner: Class | None, caller: Function, called: Function) -> tuple[Function, Edge] | None:
        above = self.index.class_of(caller)
        if owner is None or above is None or above not in self.index.lineage(owner)[1:]:
            return None
        own = self.index.method(owner, caller.name)
        if own is None or own is caller or own not in self._by_calls.parents or self._is_below(called, own):
            return None
        return next(((own, edge) for edge in self.graph.edges(own) if edge.target is called), None)

    def _is_below(self, called: Function, function: Function) -> bool:
        """The way to `function` leads through `called`: super() was called."""
        return any(caller is called for caller, _ in self._by_calls.way(function))


def _in_loop(caller: Function, edge: Edge) -> bool:
    return edge.position >= 0 and bool(caller.events[edge.position].block.loops)


def _is_making(caller: Function, edge: Edge) -> bool:
    """The object of the method comes into being there, nobody calls the method: Trainer(...)."""
    made = caller.events[edge.position].calls if edge.position >= 0 and edge.cost == CALLBACK else ()
    return bool(edge.target.owner) and any(call.last == edge.target.owner.rpartition(".")[2] for call in made)


def line_of_call(caller: Function, edge: Edge) -> int:
    """Where the call of `edge` stands: a statement over several lines may begin far above it."""
    event = caller.events[edge.position]
    names = (edge.target.name, edge.target.owner.rpartition(".")[2])
    return next((call.line for call in event.calls if call.last in names), event.line)
