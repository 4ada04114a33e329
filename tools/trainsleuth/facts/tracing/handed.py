"""Where things go on from name to name: the ways of `Handing`, walked many times, so with numbers in place of names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain

from ..reading.scoping import Name
from ..running.reachable import Reachable
from .handing import KEPT, MADE, PASSED, RETURNED

HELD = 0b1  # of the levels, how often a name is to be called to get the thing: not at all, once, more often
ONCE = 0b10
_OFTEN = 0b100
LEVELS = HELD | ONCE | _OFTEN
_WIDTH = LEVELS.bit_length()


def step(ways: int, levels: int) -> int:
    """The levels of a name that is handed what another has at `levels`."""
    return _STEPS[ways][levels]


def _step(ways: int, levels: int) -> int:
    found = levels if ways & KEPT else 0
    if ways & RETURNED:
        found |= levels << 1 | levels & _OFTEN
    if ways & PASSED:
        found |= levels & (ONCE | _OFTEN)
    if ways & MADE:
        found |= levels >> 1 | levels & _OFTEN
    return found & LEVELS


_STEPS = [
    [_step(ways, levels) for levels in range(LEVELS + 1)] for ways in range((KEPT | MADE | RETURNED | PASSED) + 1)
]
_APART = [tuple(level for level in (HELD, ONCE, _OFTEN) if levels & level) for levels in range(LEVELS + 1)]


class Handed:
    """`table`: see `Handing`; `properties`: names that call what they hold when they are read."""

    def __init__(self, table: Mapping[Name, Mapping[Name, int]], properties: Iterable[str]) -> None:
        self._names: list[Name] = list(dict.fromkeys(chain(properties, table, chain.from_iterable(table.values()))))
        self._places = {name: place for place, name in enumerate(self._names)}
        self._calls_itself = bytearray(len(self._names))
        for called in properties:
            self._calls_itself[self._places[called]] = 1
        self._onward: list[list[tuple[int, list[int]]]] = [[] for _ in self._names]
        for name, others in table.items():
            self._onward[self._places[name]] = [(self._places[one], _STEPS[ways]) for one, ways in others.items()]

    def reached(self, seeds: Iterable[tuple[Name, int]]) -> dict[Name, int]:
        """All names that what is had at the levels of `seeds` is handed on to, at any distance, with their levels."""
        found, places, levels = dict(seeds), self._places, bytearray(len(self._names))
        waiting = []
        for name, level in found.items():
            if name in places:
                levels[places[name]] = level
                waiting.append(places[name])
        met = waiting.copy()
        while waiting:
            place = waiting.pop()
            if self._calls_itself[place]:
                levels[place] |= levels[place] >> 1
            level = levels[place]
            for other, steps in self._onward[place]:
                before = levels[other]
                after = before | steps[level]
                if after != before:
                    if not before:
                        met.append(other)
                    levels[other] = after
                    waiting.append(other)
        found.update((self._names[place], levels[place]) for place in met)
        return found

    def holders(self, names: Iterable[Name]) -> Holding:
        """Which of `names` hold a thing itself, asked of many things."""
        return Holding(self, tuple(names))

    def place(self, name: Name) -> int | None:
        return self._places.get(name)

    def after(self, state: int) -> list[int]:
        """One step on from a name at one level, `place << _WIDTH | level`."""
        place, levels = state >> _WIDTH, state & LEVELS
        found = [place << _WIDTH | levels >> 1] if levels > 1 and self._calls_itself[place] else []
        for other, steps in self._onward[place]:
            for level in _APART[steps[levels]]:
                found.append(other << _WIDTH | level)
        return found


class Holding:
    """Of the places of `names` a set of bits."""

    def __init__(self, handed: Handed, names: tuple[Name, ...]) -> None:
        self._handed = handed
        self._own = {name: 1 << place for place, name in enumerate(names)}
        bits = {place: bit for name, bit in self._own.items() if (place := handed.place(name)) is not None}
        self._reachable = Reachable(
            handed.after, lambda state: bits.get(state >> _WIDTH, 0) if state & LEVELS == HELD else 0
        )

    def of(self, name: Name, level: int) -> int:
        """The names that hold the thing itself which `name` has at one level."""
        place = self._handed.place(name)
        if place is None:
            return self._own.get(name, 0) if level == HELD else 0
        return self._reachable.of(place << _WIDTH | level)
