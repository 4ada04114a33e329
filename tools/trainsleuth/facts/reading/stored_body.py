"""The body of one function as bytes and back.

Several records of a body hold the same expressions: the test of an if is in its event and in the branch of every
statement below it. They are stored once, and are the same object again afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from ..records import Block, Body, Branch, Event, Expr, Function, Loop


class _Branch(NamedTuple):
    id: int
    arm: int
    arms: int
    complete: bool
    kind: str
    tests: tuple[int, ...]  # events whose values they are


class _Block(NamedTuple):
    loops: tuple[int, ...]
    branches: tuple[_Branch, ...]
    contexts: tuple[int, ...]  # events whose values they are


class _Event(NamedTuple):
    kind: str
    line: int
    block: int
    targets: tuple[Expr, ...]
    value: Expr | None
    text: str
    calls: tuple[Expr, ...]  # of a definition: those of its decorators; others have theirs in value and targets


class _Loop(NamedTuple):
    kind: str
    line: int
    end_line: int
    event: int


class _Body(NamedTuple):
    blocks: tuple[_Block, ...]
    events: tuple[_Event, ...]
    loops: tuple[_Loop, ...]


_DECODER = msgspec.msgpack.Decoder(_Body)


def pack_body(function: Function) -> bytes:
    place = {id(event.value): number for number, event in enumerate(function.events)}
    numbers: dict[int, int] = {}
    blocks: list[_Block] = []
    events: list[_Event] = []
    for event in function.events:
        if id(event.block) not in numbers:
            numbers[id(event.block)] = len(blocks)
            blocks.append(_packed_block(event.block, place))
        calls = event.calls if event.kind == "define" else ()
        number = numbers[id(event.block)]
        events.append(_Event(event.kind, event.line, number, event.targets, event.value, event.text, calls))
    headers = {int(event.text): n for n, event in enumerate(function.events) if event.kind in ("for", "while")}
    loops = tuple(_Loop(loop.kind, loop.line, loop.end_line, headers[loop.id]) for loop in function.loops)
    return msgspec.msgpack.encode(_Body(tuple(blocks), tuple(events), loops))


def _packed_block(block: Block, place: dict[int, int]) -> _Block:
    branches = tuple(
        _Branch(b.id, b.arm, b.arms, b.complete, b.kind, tuple(place[id(test)] for test in b.tests))
        for b in block.branches
    )
    return _Block(block.loops, branches, tuple(place[id(context)] for context in block.contexts))


def unpack_body(stored: bytes | msgspec.Raw) -> Body:
    """Raises msgspec.DecodeError or IndexError for what `pack_body` never made."""
    body = _DECODER.decode(stored)
    values = [event.value for event in body.events]
    blocks = [_block(block, values) for block in body.blocks]
    events = tuple(
        Event(kind, line, blocks[number], targets, value, text, calls or tuple(_calls(targets, value)))
        for kind, line, number, targets, value, text, calls in body.events
    )
    loops = tuple(
        Loop(
            number,
            loop.kind,
            loop.line,
            loop.end_line,
            next(iter(events[loop.event].targets), None),
            values[loop.event],
        )
        for number, loop in enumerate(body.loops)
    )
    if any(number >= len(loops) or number < 0 for block in body.blocks for number in block.loops):
        raise IndexError("a loop that is not there")
    return Body(events, loops)


def _block(block: _Block, values: list[Expr | None]) -> Block:
    branches = tuple(
        Branch(b.id, b.arm, b.arms, b.complete, b.kind, tuple(_written(values[number]) for number in b.tests))
        for b in block.branches
    )
    return Block(block.loops, branches, tuple(_written(values[number]) for number in block.contexts))


def _written(value: Expr | None) -> Expr:
    if value is None:
        raise IndexError("an event without a value cannot be a test")
    return value


def _calls(targets: tuple[Expr, ...], value: Expr | None) -> Iterator[Expr]:
    """Every call, inner before outer, in the order in which they are read."""
    for target in targets:
        if target.parts:
            yield from _calls_in(target)
    if value is not None and value.parts:
        yield from _calls_in(value)


def _calls_in(expr: Expr) -> Iterator[Expr]:
    for part in expr.parts:
        if part.parts:
            yield from _calls_in(part)
    if expr.kind == "call":
        yield expr
