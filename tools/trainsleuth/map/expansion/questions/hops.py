"""One step along the calls from what answers by its words: what a statement calls and who calls it, what its names
are bound to, and the code that reads a setting."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from .pages import Page, Pages, Setting
from .ranking import TALKS, Hit
from .sources import Source

SEEDS = 10  # statements that lead on
CALLED = 0.3  # what a statement counts that a hit leads to, of the hit
BOUND = 0.3
CALLER = 0.2
READ = 0.3  # what the reader of the best setting counts, of the best hit
BODY = 0.8  # what a function counts that is found by its name
MOST_CALLERS = 2
MOST_GIVEN = 2  # statements of one function that say what it gives back
SHORT = 4  # statements of a function that is told whole
_NAME = re.compile(r"(?<![\w.'\"])(?:self\.)?[A-Za-z_]\w*(?!\w|\s*=[^=])")
_TARGET = re.compile(r"(?:self\.)?\w+")
_BINDS = re.compile(
    rf"({_TARGET.pattern}(?:, {_TARGET.pattern})*)(?:: [^=]+?)? [-+*/|]?= |for ([\w, ()]+) in |with .* as (\w+)"
)
_GIVES = re.compile(r"(?:return|yield) (?!None$|self$)")


class _Step(NamedTuple):
    """A statement that a hit leads to, with what it counts of the hit."""

    page: Page
    place: int
    share: float


class Hops:
    """Of one program; what leads where is read when it is asked for."""

    def __init__(self, source: Source, pages: Pages) -> None:
        self._source, self._pages = source, pages
        self._bound: dict[Page, dict[str, list[int]]] = {}

    def along(self, hits: Sequence[Hit], settings: Sequence[tuple[float, Setting]]) -> list[Hit]:
        """The hits together with what they and the settings lead to, best first."""
        led: dict[tuple[Page, int], dict[int, float]] = {}
        for hit in hits[:SEEDS]:
            for page, place, share in self._from(hit.page, hit.place):
                _keep_better(led, (page, place), {subject: share * worth for subject, worth in hit.said.items()})
        for page, place, share in self._readers(settings) if hits else ():
            _keep_better(led, (page, place), {subject: share * worth for subject, worth in hits[0].said.items()})
        every = {(hit.page, hit.place): hit for hit in hits}
        for (page, place), said in led.items():
            unit = self._source.units(page)[place]
            if TALKS.search(unit.text) or self._source.note(page, unit.line).off:
                continue
            own = every[page, place].said if (page, place) in every else {}
            both = {one: own.get(one, 0.0) + said.get(one, 0.0) for one in sorted({*own, *said})}
            every[page, place] = Hit(page, place, sum(both.values()), both)
        return sorted(every.values(), key=lambda one: (-one.worth, one.page.path, one.place, one.page.line))

    def _from(self, page: Page, place: int) -> Iterator[_Step]:
        every = self._source.units(page)
        if not place and page.name:
            yield from (_Step(page, one, BODY) for one in self._given(page))
            return
        unit = every[place]
        targets = [(path, first) for line, path, first in page.calls if unit.line <= line <= unit.end_line]
        for called in (self._by_line[one] for one in targets if one in self._by_line):
            yield from (_Step(called, one, CALLED) for one in self._given(called))
        for name in dict.fromkeys(_NAME.findall(unit.text)):
            yield from (_Step(where, one, BOUND) for where, one in self._bindings(page, place, name))
        if len(every) <= SHORT + 1 or unit.text.startswith("return"):
            for caller, line in self._callers.get((page.path, page.line), ())[:MOST_CALLERS]:
                yield from (_Step(caller, one, CALLER) for one in self._at(caller, line))

    def _readers(self, settings: Sequence[tuple[float, Setting]]) -> Iterator[_Step]:
        for worth, one in settings:
            for path, _, line in (read.rpartition(":") for read in one.reads[:MOST_CALLERS]):
                around = [
                    page for page in self._source.of_file.get(path, ()) if page.line <= int(line) <= page.end_line
                ]
                page = max(around, key=lambda page: (page.line, bool(page.name)), default=None)
                if page is not None and page.is_reached:
                    yield from (
                        _Step(page, place, READ * worth / settings[0][0]) for place in self._at(page, int(line))
                    )

    @cached_property
    def _by_line(self) -> dict[tuple[str, int], Page]:
        return {(page.path, page.line): page for page in self._pages.pages if page.name}

    @cached_property
    def _callers(self) -> dict[tuple[str, int], list[tuple[Page, int]]]:
        found: dict[tuple[str, int], list[tuple[Page, int]]] = {}
        for page in self._pages.pages:
            for line, path, target in page.calls:
                found.setdefault((path, target), []).append((page, line))
        return found

    def _at(self, page: Page, line: int) -> list[int]:
        """The place of the statement at a line; none for the header of the function."""
        every = self._source.units(page)
        return [one for one in range(bool(page.name), len(every)) if every[one].line <= line <= every[one].end_line][:1]

    def _given(self, page: Page) -> list[int]:
        """Of a short function all statements, of a long one those that say what it gives back."""
        every = self._source.units(page)
        runs = [one for one in self._source.runs(page) if one and not every[one].text.endswith(":")]
        return runs if len(runs) <= SHORT else [one for one in runs if _GIVES.match(every[one].text)][-MOST_GIVEN:]

    def _bindings(self, page: Page, place: int, name: str) -> Iterator[tuple[Page, int]]:
        """Of a name the last statement above that binds it, of an attribute the first of each method of its class."""
        owner = page.name.rpartition(".")[0]
        if not name.startswith("self."):
            above = [one for one in self._bound_in(page).get(name, ()) if one < place]
            yield from ((page, one) for one in above[-1:])
            return
        for other in self._source.of_file.get(page.path, ()):
            if owner and other.is_reached and not other.is_class and other.name.rpartition(".")[0] == owner:
                first = self._bound_in(other).get(name, ())[:1]
                yield from ((other, one) for one in first if (other, one) != (page, place))

    def _bound_in(self, page: Page) -> dict[str, list[int]]:
        if page not in self._bound:
            found = self._bound[page] = {}
            for place, unit in enumerate(self._source.units(page)):
                match = _BINDS.match(unit.text)
                for name in _TARGET.findall(next(filter(None, match.groups()))) if match is not None else ():
                    found.setdefault(name, []).append(place)
        return self._bound[page]


def _keep_better(
    led: dict[tuple[Page, int], dict[int, float]], where: tuple[Page, int], said: dict[int, float]
) -> None:
    if sum(led.get(where, {}).values()) < sum(said.values()):
        led[where] = said
