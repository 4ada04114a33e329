"""A function as a careful reader excerpts it: whole where it fits, else from the asked line outward."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..blocks.writing import Block
from ..run_sheet.tails import Tails
from .entry_asked import entry_around, lines_around
from .excerpts import LONGEST, Excerpt
from .locating import Found
from .pages import Page
from .ranking import TALKS
from .sources import Source
from .units import Unit

MAX_OTHERS = 3  # definitions of the same name that are named
_ORDER = {"forward": 0, "__call__": 0, "__init__": 2}


def opened(source: Source, tails: Tails, found: list[Found], room: int) -> tuple[list[Block], dict[str, int]]:
    """Blocks within `room` characters, and what does not fit."""
    (page, line), *others = found
    named = [f"{tails.of(one.path)}:{at}" for one, at in others[:MAX_OTHERS]]
    foot = [Block((), (0,), (f" also {', '.join(named)}",), {"others": named})] if named else []
    entry = list(_entry(source, tails, page, line))
    foot += entry
    excerpt = Excerpt(source, tails, room - sum(len(block.lines[0]) + 1 for block in foot))
    excerpt.whole = LONGEST if excerpt.fits_whole(page, source.runs(page)) else excerpt.whole
    wanted = list(_wanted(source, page, line, excerpt))[: BESIDE if entry else None]
    brief = not excerpt.fits(page, [place for one, place in wanted if one is page])
    left = sum(not excerpt.take(one, place, brief) for one, place in wanted[:1])
    left -= left and excerpt.take_first(*wanted[0])
    for one, place in wanted[1:]:
        below = source.below(one, place) if brief and place else None
        taken = excerpt.take(one, place, brief) if below is None else excerpt.take_both(one, place, below, brief)
        left += not taken
    return [*excerpt.blocks(), *foot], {"statements": left}


def _entry(source: Source, tails: Tails, page: Page, line: int) -> Iterator[Block]:
    """The asked line within a statement that is too long to be shown as a whole, before all others."""
    around = next((one for one in source.units(page) if one.line < line <= one.end_line and len(one.text) > LONG), None)
    if not page.is_class and around is not None:
        lines = source.lines(page.path)
        text = entry_around(lines, around, line) or lines_around(lines, around, line)
        said = f" {tails.of(page.path)}:{text}"
        yield Block((), (-1,), (said,), {"path": page.path, "line": line, "text": text})


BESIDE = 4  # statements around an entry
LONG = 170  # characters of a statement among others


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
    if asked not in runs:  # it is off: shown all the same
        runs = sorted({*runs, asked})
    named = line == page.line and bool(page.name)
    if excerpt.fits(page, runs):
        yield from ((page, 0) for _ in range(named))
    else:
        runs = [place for place in runs if place or not named]  # the heading tells its arguments
        runs = sorted(
            runs,
            key=lambda place: (
                _apart(every[place], every[asked].line, named)
                + (OFF if source.note(page, every[place].line).off and place != asked else 0)
            ),
        )
    yield from ((page, place) for place in runs)


def _apart(unit: Unit, asked: int, named: bool) -> int:
    """What follows a line says more of it than what stands above; what is told to a user says little.

    Of a function that is `named`, what it gives back and what it works out say most; what starts empty, what only
    measures or copies, and what stands above others, little.
    """
    far = unit.line - asked if unit.line >= asked else 2 * (asked - unit.line)
    if named and (_GIVES.match(unit.text) or (_WORKS_OUT.search(unit.text) and not _QUOTED.search(unit.text))):
        far //= 4
    little = (_EMPTY, _MEASURES)
    aside = TALKS.search(unit.text) or (
        named and (unit.text.endswith(":") or any(one.search(unit.text) for one in little))
    )
    return far + (ASIDE if aside and unit.line != asked else 0)


ASIDE = 40  # lines
OFF = 1000
_GIVES = re.compile(r"return\b|yield\b")
_WORKS_OUT = re.compile(r"^[^=]+(?<![=!<>]) [-+*/]?= .*[\w)\]] (?:\*\*|//|[-+*/@]) [\w(-]")
_QUOTED = re.compile(r"[\"']")
_MEASURES = re.compile(
    r"^[\w, ]+ = (?:[\w.]+\.(?:shape|size\(.*\)|device|dtype)(?:\[[-\w:]+\])?|defaultdict\(\w*\)|len\([\w.]+\))$"
)
_EMPTY = re.compile(r"^[\w.]+(?:: [^=]+)? = (?:\[\]|\{\}|[a-z]+\(\)|[\w.-]+)$")
