"""Statements of several functions as they are read: with the headers that they stand under, their values, and gaps."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..wording import clean
from .pages import Page
from .sources import Source
from .tails import Tails
from .terms import Term, parts
from .units import Unit, narrowed
from .writing import Block

WIDTH = 170  # characters of a statement among many
WHOLE = 330  # of one in a function that is read from end to end
HEADING = 120  # characters of the line above the statements of a function


class Excerpt:
    """What was taken so far, within `room` characters."""

    def __init__(self, source: Source, tails: Tails, room: int, terms: Sequence[Term] | None = None) -> None:
        self.room = room
        self._source, self._tails, self._terms = source, tails, terms
        self._taken: dict[Page, dict[int, _Line]] = {}
        self._told: set[tuple[str, str]] = set()

    def take(self, page: Page, place: int) -> bool:
        """A statement with its headers; False when they do not fit."""
        known = self._taken.get(page, {})
        if place in known:
            return True
        every = self._source.units(page)
        wanted = [one for one in (*every[place].above, place) if one not in known and every[one].line > page.line]
        lines = {one: self._line(page, every[one]) for one in wanted or [place]}
        cost = sum(line.size for line in lines.values()) + (0 if known else len(self._heading(page)) + 1)
        if cost > self.room and not self._taken:  # the best of all stands without what is above it
            lines = {place: self._line(page, every[place])}
            cost = lines[place].size + len(self._heading(page)) + 1
        if cost > self.room:
            return False
        self.room -= cost
        self._taken.setdefault(page, {}).update(lines)
        self._told.update(value for line in lines.values() for value in line.values)
        return True

    def fits(self, page: Page, places: Sequence[int]) -> bool:
        """All of these together, in what room is left."""
        every = self._source.units(page)
        cost = sum(self._line(page, every[place]).size for place in places)
        return cost + len(self._heading(page)) + 1 <= self.room

    def _heading(self, page: Page) -> str:
        said = page.heading.strip().removeprefix("in ")
        if self._terms is not None:
            said = re.sub(r"\(.*?\)(?= :)", "", said, count=1)
        return clean(f" {self._tails.tail(page.path)} {self._tails.within(said)}".rstrip(), HEADING)

    def _line(self, page: Page, unit: Unit) -> _Line:
        note = self._source.note(page, unit.line)
        off = f"  # off: {note.off}" if note.off else ""
        values = tuple(one for one in note.values if one not in self._told)
        said = f"  # {', '.join(f'{name} = {value}' for name, value in values)}" if values else ""
        base = self._source.units(page)[0].indent
        indent = " " * max(0, (unit.indent - base) // 4)
        text = f"{unit.line} {indent}{narrowed(unit.text, self._says, WHOLE if self._terms is None else WIDTH)}{self._tails.within(off or said)}"
        return _Line(unit, text, values)

    def _says(self, text: str) -> bool:
        said = parts(text)
        return any(term.pattern.search(said) for term in self._terms or ())

    def blocks(self) -> Iterator[Block]:
        """In the order in which the functions were first taken, the statements as they stand."""
        for page, known in self._taken.items():
            heading = self._heading(page)
            last = 0
            every = self._source.units(page)
            for place in sorted(known):
                gap = "…" if any(one.line > page.line for one in every[last + 1 : place]) else " "
                last = place
                line = known[place]
                item = {"path": page.path, "line": line.unit.line, "function": page.name, "text": line.unit.text}
                yield Block((heading,), (line.unit.line,), (gap + line.text,), {**item, "values": dict(line.values)})


class _Line(NamedTuple):
    unit: Unit
    text: str
    values: tuple[tuple[str, str], ...]

    @property
    def size(self) -> int:
        return len(self.text) + 2
