"""Statements of several functions as they are read: with the headers that they stand under, their values, and gaps."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from ...drawing.wording import clean
from ..blocks.writing import Block
from ..run_sheet.tails import Tails
from .pages import Page
from .sources import Source
from .terms import Term, parts
from .units import Unit, narrowed

WIDTH = 170  # characters of a statement among many
WHOLE = 330  # of one in a function that is read from end to end
LONGEST = 1000  # of one in a function that is shown with nothing left out
HEADING = 120  # characters of the line above the statements of a function
BRIEF = 60  # of a header that only says where a statement stands
_SCOPE = ("with ", "try", "async ")  # headers that do not say when
_REPLACED = re.compile(r", default [^()]*\)$")
LEAST = 40  # of a statement for which there is no more room


class Excerpt:
    """What was taken so far, within `room` characters."""

    def __init__(
        self,
        source: Source,
        tails: Tails,
        room: int,
        terms: Sequence[Term] | None = None,
        told: Iterable[tuple[str, str]] = (),
    ) -> None:
        """`told`: names with values that stand above it already."""
        self.room = room
        self.whole = WHOLE
        self._source, self._tails, self._terms = source, tails, terms
        self._taken: dict[Page, dict[int, _Line]] = {}
        self._told = {_short(one) for one in told}

    def take(self, page: Page, place: int, brief: bool = False, width: int | None = None) -> bool:
        """A statement with its headers; False when they do not fit. `brief`: the headers in one short line."""
        if place in self._taken.get(page, {}):
            return True
        width = width or (WIDTH if self._terms is not None or (brief and self._taken) else self.whole)
        room, above = self._room(page), self._above(page, place)
        return self._kept(page, self._with(page, place, above, brief, width), room)

    def take_both(self, page: Page, place: int, below: int, brief: bool = False, width: int | None = None) -> bool:
        """A header with the statement that it leads to, of `width`; neither when not both fit."""
        room, told, known = self.room, set(self._told), dict(self._taken.get(page, {}))
        if self.take(page, place, brief) and self.take(page, below, brief, width):
            return True
        self.room, self._told = room, told
        self._taken[page] = known
        if not known:
            del self._taken[page]
        return False

    def take_first(self, page: Page, place: int) -> bool:
        """With what of it there is room for, the inner headers before the outer; False when that is nothing."""
        room, above = self._room(page), self._above(page, place)
        lines = self._with(page, place, [], True, WIDTH)
        if sum(line.size for line in lines.values()) > room >= LEAST:
            lines = {place: lines[place]._replace(text=clean(lines[place].text, room - 2), values=())}
        for one in reversed(above):
            header = self._brief(page, self._source.units(page)[one])
            if sum(line.size for line in lines.values()) + header.size <= room:
                lines[one] = header
        return self._kept(page, lines, room)

    def _room(self, page: Page) -> int:
        return self.room - (0 if page in self._taken else len(self._heading(page)) + 1)

    def _above(self, page: Page, place: int) -> list[int]:
        every, known = self._source.units(page), self._taken.get(page, {})
        above = [one for one in every[place].above if one not in known and every[one].line > page.line]
        return above if self._terms is None else [one for one in above if not every[one].text.startswith(_SCOPE)]

    def _with(self, page: Page, place: int, above: Sequence[int], brief: bool, width: int) -> dict[int, _Line]:
        every, told = self._source.units(page), set(self._told)
        lines: dict[int, _Line] = {}
        for one in (*above, place):
            is_brief = one != place and (brief or self._is_aside(page, every[one], told))
            lines[one] = self._brief(page, every[one]) if is_brief else self._line(page, every[one], width, told)
            told.update(map(_short, lines[one].values))
        return lines

    def _kept(self, page: Page, lines: dict[int, _Line], room: int) -> bool:
        left = room - sum(line.size for line in lines.values())
        if left < 0:
            return False
        self.room = left
        self._taken.setdefault(page, {}).update(lines)
        self._told.update(_short(value) for line in lines.values() for value in line.values)
        return True

    def fits(self, page: Page, places: Sequence[int]) -> bool:
        """All of these together, in what room is left."""
        return self._fit(page, places, WIDTH if self._terms is not None else self.whole)

    def fits_whole(self, page: Page, places: Sequence[int]) -> bool:
        """The same with nothing left out of any statement."""
        return self._fit(page, places, LONGEST)

    def _fit(self, page: Page, places: Sequence[int], width: int) -> bool:
        every = self._source.units(page)
        cost = sum(self._line(page, every[place], width, self._told).size for place in places)
        return cost + len(self._heading(page)) + 1 <= self.room

    def _heading(self, page: Page) -> str:
        said = page.heading.strip().removeprefix("in ")
        if self._terms is not None:
            said = re.sub(r"\(.*?\)(?= :)", "", said, count=1)
        text = f" {self._tails.tail(page.path)} {self._tails.within(said)}".rstrip()
        if len(text) > HEADING:
            text = re.sub(" when .*", " when …", text)  # half a condition says something else
        return clean(text, HEADING)

    def _line(self, page: Page, unit: Unit, width: int, told: Collection[tuple[str, str]]) -> _Line:
        note = self._source.note(page, unit.line)
        off = f"  # off: {note.off}" if note.off else ""
        values = tuple(one for one in note.values if _short(one) not in told)
        said = ", ".join(f"{name} = {value if self._terms is None else _set(value)}" for name, value in values)
        said = f"  # {said}" if said else ""
        base = self._source.units(page)[0].indent
        indent = " " * max(0, (unit.indent - base) // 4)
        text = f"{unit.line} {indent}{narrowed(unit.text, self._says, width)}{self._tails.within(off or said)}"
        return _Line(unit, text, values)

    def _is_aside(self, page: Page, unit: Unit, told: Collection[tuple[str, str]]) -> bool:
        """A header of which nothing is known but where a statement stands."""
        note = self._source.note(page, unit.line)
        return self._terms is not None and not (note.off or any(_short(one) not in told for one in note.values))

    def _brief(self, page: Page, unit: Unit) -> _Line:
        return _Line(unit, f"{unit.line} {clean(unit.text, BRIEF)}", (), True)

    def _says(self, text: str) -> bool:
        said = parts(text)
        return any(term.pattern.search(said) for term in self._terms or ())

    def blocks(self) -> Iterator[Block]:
        """In the order in which the functions were first taken, the statements as they stand."""
        for page, known in self._taken.items():
            heading = self._heading(page)
            last = 0
            above: list[_Line] = []
            every = self._source.units(page)
            for place in sorted(known):
                gap = "…" if any(one.line > page.line for one in every[last + 1 : place]) else " "
                last = place
                line = known[place]
                item: dict[str, object] = {
                    "path": page.path,
                    "line": line.unit.line,
                    "function": page.name,
                    "text": line.unit.text,
                }
                if line.is_brief:
                    above.append(line)
                    continue
                shown = (*([f"…{' › '.join(one.text for one in above)}"] if above else []), gap + line.text)
                if above:
                    item["above"] = [{"line": one.unit.line, "text": one.unit.text} for one in above]
                above = []
                yield Block((heading,), (line.unit.line,), shown, {**item, "values": dict(line.values)})


def _short(value: tuple[str, str]) -> tuple[str, str]:
    """A name with its value, without what holds it and without where it is from."""
    return value[0].rpartition(".")[2], value[1].partition(" (")[0]


def _set(value: str) -> str:
    """A value with the place that sets it, without the default that it replaces."""
    return _REPLACED.sub(")", value)


class _Line(NamedTuple):
    unit: Unit
    text: str
    values: tuple[tuple[str, str], ...]
    is_brief: bool = False

    @property
    def size(self) -> int:
        return len(self.text) + (3 if self.is_brief else 2)
