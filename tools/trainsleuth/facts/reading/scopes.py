"""Bindings of names inside one function, and which of them reach a place in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import takewhile
from typing import NamedTuple

from ..memo import kept_per_function
from ..records import Block, Event, Expr, Function, Loop

Item = int | str  # element of a tuple, or string key, that is taken of a value


class Binding(NamedTuple):
    """A name or dotted path gets a value at event `position`.

    kind: assign, augment, for (an element of `value`), with, define, delete, walrus,
    append (`value` is added to a list), extend. `items` says which element of `value` it is: `a, (b, c) =
    v` binds c to items (1, 1).
    """

    name: str
    position: int
    kind: str
    value: Expr | None
    items: tuple[Item, ...] = ()


_new: Callable[..., Binding] = tuple.__new__  # half the time of Binding()


@kept_per_function
def bindings(function: Function) -> dict[str, tuple[Binding, ...]]:
    """All bindings of a function's own body, by name ("x") or dotted path ("self.x"), in source order."""
    table: dict[str, list[Binding]] = {}
    walrus, adds = function.source.holds(_WALRUS), not function.called.isdisjoint(_ADDING)
    for position, event in enumerate(function.events):
        for binding in _bindings(position, event, walrus, adds):
            if (found := table.get(binding.name)) is None:
                table[binding.name] = [binding]
            else:
                found.append(binding)
    return {name: tuple(found) for name, found in table.items()}


_WALRUS = re.compile(rb":=")
_ADDING = frozenset(["append", "add", "appendleft", "insert", "extend", "update"])
_FOR = re.compile(rb"for(?<!\wfor)\b")  # begins with its letters, which is looked for several times as fast


def _bindings(position: int, event: Event, walrus: bool, adds: bool) -> Iterator[Binding]:
    if event.kind == "define":
        yield Binding(event.text, position, "define", None)
    elif event.kind == "delete" and event.value is not None:
        yield from _targets(position, "delete", event.value, None, ())
    elif event.targets:
        for target in event.targets:
            if target.kind == "path":
                yield _new(Binding, (target.text, position, event.kind, event.value, ()))
            else:
                yield from _targets(position, event.kind, target, event.value, ())
    if adds and event.calls and event.value is not None:
        yield from _appends(position, event)
    if walrus and event.value is not None and event.kind in ("if", "while", "expression", "assign", "return"):
        for expr in event.value.walk():
            if expr.kind == "walrus":
                yield Binding(expr.text, position, "walrus", expr.parts[0])


def _targets(position: int, kind: str, target: Expr, value: Expr | None, items: tuple[Item, ...]) -> Iterator[Binding]:
    if target.kind == "path":
        yield _new(Binding, (target.text, position, kind, value, items))
    elif target.kind in ("tuple", "list"):
        literal = value if value is not None and value.kind in ("tuple", "list") and kind == "assign" else None
        plain = literal is not None and all(part.kind != "star" for part in (*literal.parts, *target.parts))
        for place, part in enumerate(target.parts):
            if literal is not None and plain and not items and place < len(literal.parts):
                yield from _targets(position, kind, part, literal.parts[place], ())
            else:
                yield from _targets(position, kind, part, value, (*items, place))
    elif target.kind == "star":
        yield from _targets(position, kind, target.parts[0], None, ())
    elif target.kind == "index" and target.parts[0].kind == "path":
        yield Binding(target.parts[0].text, position, "append", value)


def _appends(position: int, event: Event) -> Iterator[Binding]:
    for call in event.calls:
        receiver, _, name = call.callee.rpartition(".")
        if receiver and name in _ADDING and (given := call.arguments):
            if name in ("extend", "update"):
                yield Binding(receiver, position, "extend", given[0])
            elif name != "insert":
                yield Binding(receiver, position, "append", given[0])
            elif len(given) > 1:
                yield Binding(receiver, position, "append", given[1])


@kept_per_function
def comprehension_bindings(function: Function) -> dict[int, tuple[Binding, ...]]:
    """By event position: the variables of the comprehensions in it, each bound to elements of its source."""
    table: dict[int, tuple[Binding, ...]] = {}
    if len(function.source.found(_FOR)) == sum(loop.kind == "for" for loop in function.loops):
        return table  # each is a statement
    for position, event in enumerate(function.events):
        clauses = _clauses(event.value) if event.value is not None and event.value.parts else ()
        found = [
            binding
            for clause in clauses
            if len(clause.parts) == 2
            for binding in _targets(position, "for", clause.parts[0], clause.parts[1], ())
        ]
        if found:
            table[position] = tuple(found)
    return table


def _clauses(expr: Expr) -> list[Expr]:
    """Of the comprehensions in an expression, outer before inner."""
    found, waiting = [], [expr]
    while waiting:
        expr = waiting.pop()
        if expr.kind == "for":
            found.append(expr)
        waiting += [part for part in expr.parts[::-1] if part.parts]
    return found


@kept_per_function
def comprehension_names(function: Function) -> frozenset[str]:
    """The variables of all comprehensions in the function."""
    return frozenset(one.name for found in comprehension_bindings(function).values() for one in found)


@kept_per_function
def is_bound(function: Function, path: str) -> bool:
    """The function itself gives it, or what stands before one of its dots, a value."""
    table = bindings(function)
    while path and path not in table:
        path = path.rpartition(".")[0]
    return bool(path)


def is_sibling(one: Block, other: Block) -> bool:
    """Both stand in different arms of the same if, try or match: one run takes at most one of them."""
    return any(a.id == b.id and a.arm != b.arm for a, b in zip(one.branches, other.branches, strict=False))


def encloses(outer: Block, inner: Block) -> bool:
    """Whenever `inner` runs, `outer` has run: its arms and loops are a prefix of the other's."""
    arms = [(b.id, b.arm) for b in outer.branches]
    return (
        arms == [(b.id, b.arm) for b in inner.branches][: len(arms)] and outer.loops == inner.loops[: len(outer.loops)]
    )


@kept_per_function
def reaching(function: Function, name: str, position: int) -> tuple[tuple[Binding, ...], bool]:
    """Bindings of `name` that may hold when event `position` starts, latest first; does one surely?

    `append` and `extend` come along without hiding what came before. False also means that the name may hold
    what it had before the function began (a parameter, a closure, a global).
    """
    every = bindings(function).get(name, ())
    if not every:
        return (), False
    here = function.events[position].block if position < len(function.events) else Block()
    found: list[Binding] = []
    arms: dict[int, set[int]] = {}
    for binding in reversed([b for b in every if b.position < position]):
        block = function.events[binding.position].block
        if is_sibling(block, here) or _is_covered(block, here, arms):
            continue
        if binding.kind == "delete":
            return tuple(found), True
        found.append(binding)
        if binding.kind in ("append", "extend", "augment"):
            continue
        if encloses(block, here) or _completes(block, here, arms):
            return tuple(found), True
    carried = [b for b in every if b.position >= position and _shares_loop(function, b, here)]
    return (*found, *(b for b in carried if b.kind != "delete")), False


def _is_covered(block: Block, here: Block, arms: dict[int, set[int]]) -> bool:
    """A later binding in the same arm has hidden it already."""
    return any(branch.arm in arms.get(branch.id, ()) for branch in block.branches)


def _completes(block: Block, here: Block, arms: dict[int, set[int]]) -> bool:
    """Note the arm that binds; true when every arm of a complete if, next to the place asked for or around it, does."""
    pairs = zip(block.branches, here.branches, strict=False)
    rest = block.branches[len(list(takewhile(lambda pair: pair[0] == pair[1], pairs))) :]
    if len(rest) != 1 or block.loops != here.loops[: len(block.loops)]:
        return False
    branch = rest[0]
    seen = arms.setdefault(branch.id, set())
    seen.add(branch.arm)
    return branch.complete and len(seen) == branch.arms


def _shares_loop(function: Function, binding: Binding, here: Block) -> bool:
    block = function.events[binding.position].block
    return bool(here.loops) and block.loops[:1] == here.loops[:1]


def is_made_in(function: Function, name: str, loop: Loop) -> bool:
    """Each round of the loop gives the name what a call makes, not out of what the name held before."""
    return any(
        binding.kind == "assign"
        and binding.value is not None
        and binding.value.kind == "call"
        and loop.id in function.events[binding.position].block.loops
        and all(part.text != name for part in binding.value.walk())
        for binding in bindings(function).get(name, ())
    )


_ADDED = frozenset(["append", "extend"])  # to what the name holds already


@kept_per_function
def own_names(function: Function) -> frozenset[str]:
    """Names that belong to the function itself: parameters, and what it binds and does not call global."""
    foreign = {name for event in function.events if event.kind == "global" for name in event.text.split()}
    bound = {name for name, found in bindings(function).items() if not _ADDED.issuperset([b.kind for b in found])}
    parameters = {parameter.name for parameter in function.parameters}
    return frozenset(parameters | {name for name in bound if "." not in name} - foreign)
