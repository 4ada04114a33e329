"""Blocks of lines within a budget: what was chosen, in the order in which it is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple


class Block(NamedTuple):
    """`lines` belong under `headings`, outer first; `order` is where they are read. `item` is the same as data."""

    headings: tuple[str, ...]
    order: tuple[Any, ...]
    lines: tuple[str, ...]
    item: Mapping[str, Any]
    span: tuple[str, int, int] | None = None  # the function that it shows: path, first and last line
    opened: tuple[str, ...] = ()  # lines that show its body, when `lines` only say how long it is
    shut: tuple[str, ...] = ()  # lines that only say how long it is, for where `lines` do not fit


def fitted(blocks: Sequence[Block], room: int) -> tuple[list[Block], list[Block]]:
    """The blocks that fit into `room` characters, nothing twice, and the others; room that is left opens bodies."""
    taken, left_out = chosen(blocks, room)
    again = without_shown(blocks, taken)
    if len(again) < len(blocks):
        taken, left_out = chosen(again, room)
    rest = room - sum(len(line) + 1 for line in written_out(taken))
    for place, block in enumerate(taken):
        more = sum(len(line) + 1 for line in block.opened) - sum(len(line) + 1 for line in block.lines)
        if block.opened and not left_out and more <= rest:
            rest -= more
            taken[place] = block._replace(lines=block.opened, opened=())
    return without_shown(taken, taken), left_out


def without_shown(blocks: Iterable[Block], taken: Iterable[Block]) -> list[Block]:
    """Those that are no statements of functions that `taken` shows as a whole."""
    shown = [block.span for block in taken if block.span is not None and not block.opened]
    return [block for block in blocks if not _is_within(block, shown)]


def _is_within(block: Block, shown: Sequence[tuple[str, int, int]]) -> bool:
    """It is a statement of a function that is shown as a whole."""
    path, line = block.item.get("path"), block.item.get("line")
    if block.span is not None or not isinstance(line, int) or not _OTHER.isdisjoint(block.item):
        return False
    return any(path == one and first <= line <= last for one, first, last in shown)


_OTHER = {"cell", "feature", "signature"}  # lines of these are not counted, or not part of a body


def chosen(blocks: Iterable[Block], room: int) -> tuple[list[Block], list[Block]]:
    """The blocks that fit into `room` characters, best first as they come, and those that did not."""
    taken: list[Block] = []
    open_: set[tuple[str, ...]] = set()
    left_out: list[Block] = []
    for block in blocks:
        new = [block.headings[: depth + 1] for depth in range(len(block.headings))]
        new = [heading for heading in new if heading not in open_]
        above = sum(len(heading[-1]) + 1 for heading in new)
        cost = above + sum(len(line) + 1 for line in block.lines)
        if cost > room and block.shut:
            block = block._replace(lines=block.shut, opened=block.lines, shut=())
            cost = above + sum(len(line) + 1 for line in block.lines)
        if cost > room:
            left_out.append(block)
            continue
        room -= cost
        open_.update(new)
        taken.append(block)
    return taken, left_out


def written_out(blocks: Sequence[Block]) -> list[str]:
    """Lines of all blocks: headings in the order of their best block, the lines below by their order."""
    depths = max((len(block.headings) for block in blocks), default=0)
    first: dict[tuple[str, ...], int] = {}
    for place, block in enumerate(blocks):
        for depth in range(len(block.headings)):
            first.setdefault(block.headings[: depth + 1], place)

    def key(block: Block) -> tuple[Any, ...]:
        ranks = [first[block.headings[: depth + 1]] for depth in range(len(block.headings))]
        return (*ranks, *[-1] * (depths - len(ranks)), block.order)

    lines: list[str] = []
    shown: tuple[str, ...] = ()
    for block in sorted(blocks, key=key):
        for depth, heading in enumerate(block.headings):
            if shown[: depth + 1] != block.headings[: depth + 1]:
                lines.append(heading)
                shown = block.headings[: depth + 1]
        shown = block.headings
        lines += block.lines
    return lines
