"""A function as a careful reader excerpts it: whole where it fits, else from the asked line outward."""

from __future__ import annotations

from collections.abc import Iterator

from .excerpts import Excerpt
from .locating import Found
from .pages import Page
from .ranking import TALKS
from .sources import Source
from .tails import Tails
from .units import Unit
from .writing import Block

MAX_OTHERS = 3  # definitions of the same name that are named
_ORDER = {"forward": 0, "__call__": 0, "__init__": 2}


def opened(source: Source, tails: Tails, found: list[Found], room: int) -> tuple[list[Block], dict[str, int]]:
    """Blocks within `room` characters, and what does not fit."""
    (page, line), *others = found
    named = [f"{tails.of(one.path)}:{at}" for one, at in others[:MAX_OTHERS]]
    foot = [Block((), (0,), (f" also {', '.join(named)}",), {"others": named})] if named else []
    excerpt = Excerpt(source, tails, room - sum(len(block.lines[0]) + 1 for block in foot))
    left = sum(not excerpt.take(one, place) for one, place in _wanted(source, page, line, excerpt))
    return [*excerpt.blocks(), *foot], {"statements": left}


def _wanted(source: Source, page: Page, line: int, excerpt: Excerpt) -> Iterator[tuple[Page, int]]:
    """Statements, the most wanted first; of a class its methods, and then what they do."""
    if page.is_class and line == page.line:
        methods = [one for one in source.of_file[page.path] if one.name.rpartition(".")[0] == page.name]
        yield from ((page, place) for place, unit in enumerate(source.units(page)) if unit.line in page.begins)
        for one in sorted(methods, key=lambda one: (_ORDER.get(one.name.rpartition(".")[2], 1), one.line)):
            yield from ((one, place) for place in source.runs(one))
        return
    every = source.units(page)
    asked = max((place for place, unit in enumerate(every) if unit.line <= line), default=0)
    runs = source.runs(page)
    if line == page.line and page.name:
        yield page, 0
    if asked not in runs:  # it is off: shown all the same
        runs = sorted({*runs, asked})
    if not excerpt.fits(page, runs):
        runs = sorted(runs, key=lambda place: _apart(every[place], every[asked].line))
    yield from ((page, place) for place in runs)


def _apart(unit: Unit, asked: int) -> int:
    """What follows a line says more of it than what stands above; what is told to a user says little."""
    far = unit.line - asked if unit.line >= asked else 2 * (asked - unit.line)
    return far + (ASIDE if unit.line != asked and TALKS.search(unit.text) else 0)


ASIDE = 40  # lines
