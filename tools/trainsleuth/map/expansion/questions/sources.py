"""Files of a repository as statements, read when they are asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from trainsleuth.repository import is_source

from .pages import Note, Page, Pages
from .terms import Term, parts
from .units import Unit, units
from .unloaded import read_pages, with_begins

_WORD = re.compile(r"\w+")


class Spoken:
    """The statements of all code that a program runs, by the words in them."""

    def __init__(self, statements: Iterable[tuple[Page, int, str]]) -> None:
        found = list(statements)
        self.where = [(page, place) for page, place, _ in found]
        self.texts = [text for _, _, text in found]
        self._with: dict[str, list[int]] = {}
        for one, text in enumerate(self.texts):
            for word in set(_WORD.findall(text)):
                self._with.setdefault(word, []).append(one)

    def with_term(self, term: Term) -> list[int]:
        """Numbers of the statements that hold a term, in their order."""
        words = [word for word in self._with if term.last.match(word)]
        found = sorted({one for word in words for one in self._with[word]})
        return [one for one in found if term.pattern.search(self.texts[one])]


class Source:
    """`read` gives the lines of a file."""

    def __init__(self, read: Callable[[str], Sequence[str]], pages: Pages) -> None:
        self._read, self._pages, self._texts = read, pages, dict[str, Sequence[str]]()
        self._notes: dict[Page, dict[int, Note]] = {}
        self._units: dict[tuple[str, int], list[Unit]] = {}
        self.of_file: dict[str, list[Page]] = {}
        self.add(pages.pages)

    def add(self, pages: Iterable[Page]) -> None:
        for page in pages:
            self.of_file.setdefault(page.path, []).append(page)

    def know(self, path: str) -> None:
        """The functions of a file that is asked for, whether or not the program loads it and runs them."""
        if path not in self.of_file:
            self.add(read_pages(path, self.lines(path)))
        elif is_source(path):
            self.of_file[path] = list(with_begins(self.of_file[path], path, self.lines(path)))

    def lines(self, path: str) -> Sequence[str]:
        if path not in self._texts:
            self._texts[path] = self._read(path)
        return self._texts[path]

    def units(self, page: Page) -> list[Unit]:
        """Of a function that is reached, with those of the functions in it; of a module or class, only its own."""
        mark = (page.path, page.line if page.name else 0)
        if mark not in self._units:
            lines = self.lines(page.path)
            last = min(page.end_line, len(lines))
            inside = [one for one in self.of_file[page.path] if page.line <= one.line and one.end_line <= last]
            begins = (
                {line for one in inside for line in (*one.begins, one.line)}
                if any(one.begins for one in inside)
                else ()
            )
            found = units(lines, page.line, last, begins) if last >= page.line else []
            self._units[mark] = found
        return self._units[mark]

    def own(self, page: Page) -> Iterator[int]:
        """Places of the statements of a page that belong to no function or class in it."""
        others = {one.line for one in self.of_file[page.path] if one is not page}
        own = {*page.begins, page.line} - others
        every = self.units(page)
        whole = (every[unit.above[-1]] if unit.is_part else unit for unit in every)
        yield from (place for place, unit in enumerate(whole) if unit.line in own)

    def note(self, page: Page, line: int) -> Note:
        """What is known of the statement at `line`, which may be that of a function inside."""
        if page not in self._notes:
            inside = (one for one in self.of_file[page.path] if page.line <= one.line and one.end_line <= page.end_line)
            self._notes[page] = {note.line: note for one in inside for note in one.notes}
        return self._notes[page].get(line, Note(line, "", ()))

    @cached_property
    def spoken(self) -> Spoken:
        return Spoken(
            (page, place, parts(self.units(page)[place].text))
            for page in self._pages.pages
            if page.is_reached and not page.is_abstract
            for place in self.own(page)
        )

    @cached_property
    def roles(self) -> Mapping[str, Mapping[int, float]]:
        """By the parts of the map the numbers of the statements, among those that are spoken of, that belong to it."""
        numbers = {
            (page.path, self.units(page)[place].line): one for one, (page, place) in enumerate(self.spoken.where)
        }
        found: dict[str, dict[int, float]] = {}
        for role in self._pages.roles:
            number = numbers.get((role.path, role.line))
            if number is not None:
                found.setdefault(role.part, {})[number] = role.score
        return found

    def below(self, page: Page, place: int) -> int | None:
        """The first statement under a header that no setting keeps from running, that of its `else` if need be."""
        every = self.units(page)
        under = (one for one in range(place + 1, len(every)) if place in every[one].above)
        runs = (one for one in under if not every[one].text.endswith(":") and not self.note(page, every[one].line).off)
        return next(runs, None) if every[place].text.endswith(":") else None

    def runs(self, page: Page) -> list[int]:
        """Places of the statements behind its header; of those that a setting keeps from running, the first."""
        every, kept, idle = self.units(page), [], ""
        for place in range(1 if page.name else 0, len(every)):
            off = self.note(page, every[place].line).off
            if not off or off != idle:
                kept.append(place)
            idle = off
        return kept
