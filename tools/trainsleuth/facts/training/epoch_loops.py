"""Loops over epochs, around those over batches that train."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..records import Function, Loop
from ..tracing.things import Spot
from .effects import Effect

if TYPE_CHECKING:
    from ..index import Index

_DATA = re.compile(r"iter|load|data|batch", re.IGNORECASE)


class EpochLoop(NamedTuple):
    """A loop over epochs, around `spot` in its function, where what it repeats stands. `is_named`: it says so itself."""

    loop: Loop
    spot: Spot
    is_named: bool


def training_epochs(index: Index, paths: Collection[str]) -> Iterator[EpochLoop]:
    """Those in files of `paths` around a loop over batches with a backward()."""
    for function in index.functions():
        for effect in index.effects.of(function) if function.path in paths else ():
            if effect.kind == "backward":
                yield from _around(index, function, effect)


def _around(index: Index, function: Function, effect: Effect) -> Iterator[EpochLoop]:
    own = [function.loops[place] for place in function.events[effect.position].block.loops]
    inside = [(loop, Spot(function, effect.position)) for loop in own]
    for spot in (*effect.trail[1:], effect.spot) if effect.trail else ():
        inside += [(spot.function.loops[place], spot) for place in spot.function.events[spot.position].block.loops]
    for depth, (loop, spot) in enumerate(inside[: len(own)]):
        deeper = inside[depth + 1 :]
        if deeper and says_epoch(loop):
            yield EpochLoop(loop, spot, True)
        elif not _is_over_data(index, loop, spot) and any(_is_over_data(index, *one) for one in deeper):
            yield EpochLoop(loop, spot, False)


def says_epoch(loop: Loop) -> bool:
    parts = [part for root in (loop.target, loop.source) if root is not None for part in root.walk()]
    return any("epoch" in part.text.lower() and not _DATA.search(part.text) for part in parts if part.kind == "path")


def _is_over_data(index: Index, loop: Loop, spot: Spot) -> bool:
    if loop.kind != "for" or loop.source is None or says_epoch(loop):
        return False
    if loop.source.kind == "call" and loop.source.last == "range":
        return any(index.values.is_loader(part, spot) for one in loop.source.arguments for part in one.walk())
    return index.values.is_loader(loop.source, spot)
