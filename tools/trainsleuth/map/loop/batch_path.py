"""The way of one batch, read backwards: from backward() to the loss, the forward call and the loader."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from trainsleuth.facts import Event, Expr, Function

from ..calling.edges import CALLBACK, Edge
from ..calling.graph import Graph
from ..recipe.branches import Settled, is_not_chosen
from .networks import calls_loss, calls_network, is_loss_class, is_loss_name, is_network
from .steps import Sign

MAX_HOPS = 4  # calls followed into project functions
MAX_UP = 4  # callers that a loss is followed up to
MAX_EVENTS = 200  # of one function, from the backward call up


class Stage(NamedTuple):
    """One statement that makes the loss. role: forward, loss, sum (a name that says loss is bound), batch (a loop
    hands it out), source (a project function makes a part of it), through (one that calls the network), or inside
    (a network called by a network).
    """

    function: Function
    event: Event
    line: int
    role: str
    hops: int


def trace_back(
    graph: Graph,
    starts: Iterable[Sign | tuple[Function, int]],
    parents: Mapping[Function, tuple[Function, Edge]],
) -> tuple[Stage, ...]:
    """Stages before each of `starts` (a backward call, or the return of a training hook), nearest first.

    A loss that comes in as a parameter is followed to the caller on the way from the entry (`parents`).
    """
    found: dict[tuple[Function, int, str], Stage] = {}
    seen: set[tuple[Function, int]] = set()
    for start in starts:
        function, position = (start.function, start.site.position) if isinstance(start, Sign) else start
        direct = True  # the loss itself comes from here; further up it is only what it was made of
        for _ in range(MAX_UP):
            for stage in _Trace(graph, function, seen).before(function, position, 0, False):
                if direct or stage.role in ("batch", "source"):
                    found.setdefault((stage.function, stage.line, stage.role), stage)
            if function not in parents or parents[function][1].position < 0:
                break
            if not _comes_in(function, position):
                direct = False
                if not _is_given(function, position):
                    break
            caller, edge = parents[function]
            function, position = caller, edge.position
    if not any(stage.role == "forward" for stage in found.values()):
        through = sorted({function for function, _ in seen}, key=lambda one: (one.path, one.line))
        found.update({(one.function, one.line, one.role): one for one in _kept(graph, through)})
    return tuple(sorted(found.values(), key=lambda stage: stage.hops))


def _kept(graph: Graph, through: Iterable[Function]) -> Iterator[Stage]:
    """Networks that functions on the way of the loss call, when they keep what comes out: data.update(self.model(data))."""
    for function in through:
        owner = graph.index.class_of(function)
        if owner is not None and is_network(graph.index, owner):
            continue
        for event in function.events:
            for call in event.calls:
                if calls_network(graph.values, function, call):
                    yield Stage(function, event, call.line, "forward", 1)


def _comes_in(function: Function, position: int) -> bool:
    """What is used at `position` is a parameter that the function does not bind itself."""
    value = function.events[position].value
    bound = {
        name
        for event in function.events[:position]
        for target in event.targets
        for name in _names(target)
        if event.value is None or name not in _names(event.value)  # loss = loss * scale is still what came in
    }
    used = set(_names(value)) - bound if value is not None else set()
    return any(parameter.name in used for parameter in function.parameters if parameter.name != function.self_name)


def _is_given(function: Function, position: int) -> bool:
    """Something that the loss was made of is a parameter: a batch that the caller hands over."""
    start = function.events[position].value
    wanted = set(_names(start)) if start is not None else set()
    for event in reversed(function.events[max(0, position - MAX_EVENTS) : position]):
        bound = {name for target in event.targets for name in _names(target)}
        if event.value is not None and bound & wanted:
            wanted.update(_names(event.value))
    return any(one.name in wanted and _DATA.search(one.name) for one in function.parameters)


_DATA = re.compile(r"data|batch|sample|input|^x$|^xs$|imgs?|image|target|label|obs", re.I)


class _Trace(NamedTuple):
    """One walk back from `first`; `seen` are statements that need not be followed again."""

    graph: Graph
    first: Function
    seen: set[tuple[Function, int]]

    def before(self, function: Function, position: int, hops: int, inside: bool) -> Iterator[Stage]:
        """Stages of the statements above `position` that make what is used there."""
        if (function, position) in self.seen or hops > MAX_HOPS:
            return
        self.seen.add((function, position))
        start = function.events[position]
        wanted = set(_names(start.value)) if start.value is not None else set()
        given = {name for name in wanted if _says_loss(name)} if start.kind == "return" else set()
        settled = Settled(self.graph.values.known.settings, self.graph.index, function)
        if start.kind == "return":
            yield from self.at(function, position, hops, inside)
        for place in range(position - 1, max(-1, position - MAX_EVENTS), -1):
            event = function.events[place]
            bound = {name for target in event.targets for name in _names(target)} | set(_filled(event))
            if not bound & wanted and not any(name.startswith(f"{one}.") for one in bound for name in wanted):
                continue
            if is_not_chosen(event, settled):
                continue
            if event.kind == "for":
                if hops == 0:
                    yield Stage(function, event, event.line, "batch", hops)
                continue
            if event.value is not None:
                wanted.update(_names(event.value))
            if bound & given and event.value is not None:
                given.update(name for name in _names(event.value) if _says_loss(name))
            if any(_says_loss(name) for name in bound) and (not inside or bound & given):
                yield Stage(function, event, event.line, "sum", hops)
            if hops == 0 and any(isinstance(t, Function) for c in event.calls for t in self.graph.targets(function, c)):
                yield Stage(function, event, event.line, "source", hops)
            found = list(self.at(function, place, hops, inside))
            if hops == 0 and any(stage.role == "forward" and stage.hops for stage in found):
                yield Stage(function, event, event.line, "through", hops)
            yield from found

    def at(self, function: Function, position: int, hops: int, inside: bool) -> Iterator[Stage]:
        """What one statement adds: the network or the loss that it calls, or the way into a project function."""
        inner = inside or (hops > 0 and self._is_inside(function))
        event = function.events[position]
        owner = self.graph.index.class_of(function)
        of_loss = hops > 0 and owner is not None and is_loss_class(self.graph.index, owner)
        for call in event.calls:
            if calls_loss(self.graph.values, function, call):
                yield Stage(function, event, call.line, "loss", hops)
            elif calls_network(self.graph.values, function, call):
                own = of_loss and call.callee.startswith(f"{function.self_name}.")  # what the loss holds for itself
                yield Stage(function, event, call.line, "inside" if inner or own else "forward", hops)
        called = {one for call in event.calls for one in self.graph.targets(function, call)}  # in other statements too
        for edge in self.graph.edges(function):
            if (
                (edge.position == position or edge.target in called)
                and edge.cost <= CALLBACK
                and edge.target.name != "__init__"
            ):
                returns = [place for place, one in enumerate(edge.target.events) if one.kind == "return"]
                for place in returns[-2:]:
                    yield from self.before(edge.target, place, hops + 1, inner)

    def _is_inside(self, function: Function) -> bool:
        """In a network other than the class that the walk began in (a module that holds its own training step)."""
        index = self.graph.index
        owner, start = index.class_of(function), index.class_of(self.first)
        if owner is None or not is_network(index, owner) or is_loss_class(index, owner):
            return False
        if _IS_STEP.search(function.name):  # of what holds the networks: pipeline.get_train_loss_dict(step)
            return False
        return start is None or not (owner in index.lineage(start) or start in index.lineage(owner))


_IS_STEP = re.compile(r"(?:^|_)(?:train|step|loss)(?:_|$)")


def _says_loss(name: str) -> bool:
    return is_loss_name(name.rpartition(".")[2])


def _filled(event: Event) -> Iterator[str]:
    """What a statement puts something into: losses.update(more), terms.append(one)."""
    if event.kind == "expression" and event.value is not None and event.value.kind == "call":
        receiver = event.value.receiver
        if event.value.last in ("update", "append", "extend", "add") and receiver is not None:
            yield from _names(receiver)


def _names(expr: Expr) -> Iterator[str]:
    """Names whose values go into `expr`: not those of the functions called, but what methods are called on."""
    if expr.kind == "path":
        yield expr.text
        return
    if expr.kind == "call":
        receiver = expr.receiver
        if receiver is not None:
            yield from _names(receiver)
        elif expr.parts[0].kind == "path":
            yield f"{expr.parts[0].text}()"
        for part in expr.parts[1:]:
            yield from _names(part)
        return
    if expr.kind == "index":
        yield from _names(expr.parts[0])
        return
    for part in expr.parts:
        yield from _names(part)
