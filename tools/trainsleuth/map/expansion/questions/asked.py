"""What no component answers: a question, some words, a place."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import PurePosixPath

from trainsleuth.repository import CONFIG_SUFFIXES, SOURCE_SUFFIXES, Repository

from ...drawing.wording import clean
from ...parts import lines_of
from ...records import Status
from ..blocks.writing import Block, chosen
from ..run_sheet.tails import Tails
from .companions import ending_arm, made_above
from .dense import Lines, fitting
from .excerpts import Excerpt
from .hops import Hops
from .locating import assigned, located
from .near_names import files_like, like, names_beside
from .opened import opened
from .pages import Page, Pages, Setting
from .ranking import TALKS, Hit, best_settings, best_statements, spread
from .sources import Source
from .terms import Term, terms_of, values_of
from .unloaded import read_pages

SETTINGS_SHARE = 0.35  # of the room, before the first statement
ENOUGH = 0.3  # of the worth of the best
MAX_SETTINGS = 12
MAX_STATEMENTS = 60
NAMES = 3  # of a key; its first sections are left out
MAX_VALUES = 3  # of the best settings, whose names in the code are looked for, too


def _is_file(where: str) -> bool:
    return "/" in where or where.endswith((*SOURCE_SUFFIXES, *CONFIG_SUFFIXES, ".md", ".sh", ".txt"))


Told = Collection[object]  # names of settings, and (path, line) of statements
Counted = tuple[list[Block], dict[str, int]]
Answered = Counted | tuple[list[Block], dict[str, int], str]  # with how many of each kind do not fit, and where


class Asker:
    """Answers about one program, from what is kept of it and the files of its repository."""

    def __init__(self, pages: Pages, repository: Repository) -> None:
        self._pages, self._repository = pages, repository
        self._source = Source(self._read, pages)
        self._tails = Tails(repository.files, pages.names)
        self._hops = Hops(self._source, pages)
        self._lines = Lines(self._source, pages, self._tails, repository)

    @property
    def status(self) -> tuple[Status, str]:
        return ("found", "") if self._pages.entry else ("absent", "no PyTorch program was found")

    def short(self, names: Mapping[str, str]) -> Mapping[str, str]:
        """The files of a legend by the ends of their paths that no other file of the repository has."""
        return {self._tails.tail(path): name for path, name in names.items()}

    def _read(self, path: str) -> list[str]:
        return lines_of(self._repository, path)

    def answer(self, what: str) -> Callable[[int, Told], Answered]:
        """`what` is "find WORDS", "ask QUESTION", "lines REGEX in PATH" or "open WHERE"; for a number of characters, and what is told
        already, the blocks that fit, best first, and what does not fit."""
        asked, _, words = what.partition(" ")
        if asked in ("ask", "find"):
            return self._found(words, asked == "find")
        dense = self._lines.matching(words) if asked == "lines" else self._lines.between(words)
        if dense or asked == "lines":
            return lambda room, _: fitting(dense, room)
        found = located(self._pages, self._repository, words, self._read) or assigned(self._source, words)
        if not found:
            return self._of_section(words) or self._undefined(words)
        self._source.know(found[0][0].path)
        return lambda room, _: opened(self._source, self._tails, found, room)

    def _of_section(self, where: str) -> Callable[[int, Told], Answered] | None:
        """The settings of one section, where what is to be opened is one: open model.decode_head."""
        start = f"{where}."
        own = [one for one in self._pages.settings if one.name.startswith(start) and not one.line and one.value]
        if not own:
            return None

        def line(one: Setting, beside: str | None) -> str:
            return setting_line(one, self._tails, beside, False)

        def fitted(room: int, _: Told) -> Answered:
            blocks = list(_settings(own, line, room))
            return blocks, {"settings": len(own) - sum(len(one.item["settings"]) for one in blocks)}

        return fitted

    def _instead(self, where: str) -> str:
        """Of "a.py:Trainer.fitt" what a.py and its Trainer have, else files of like names; of "Trainer.fitt" the same."""
        path, _, name = where.rpartition(":")
        if not path and _is_file(where):
            return like(files_like(self._repository.files, where))
        if path:
            files = [one for one in self._repository.files if f"/{one}".endswith(f"/{path}")]
            if not files:
                return like(files_like(self._repository.files, path))
            pages = [page for page in self._pages.pages if page.path == files[0]]
            names = names_beside(pages or list(read_pages(files[0], self._read(files[0]))), name)
            return f"; {self._tails.tail(files[0])} has {names}" if names else ""
        owner = where.rpartition(".")[0]
        classes = [page for page in self._pages.pages if page.is_class and owner and page.name == owner]
        beside = [page for page in self._pages.pages if classes and page.path == classes[0].path]
        return f"; {self._tails.tail(classes[0].path)} has {names_beside(beside, where)}" if classes else ""

    def _undefined(self, where: str) -> Callable[[int, Told], Answered]:
        """What is no definition, no line and is assigned nowhere: a parameter is found where it is said."""
        instead = self._instead(where)
        said = f" no definition and no line {where} in the files that were read{instead}"
        missing = Block((), (0,), (said,), {"missing": where})
        name = where.rpartition(".")[2]
        if instead or not name.isidentifier() or _is_file(where):
            return lambda room, _: ([missing], {})
        beside = self._found(name, True)

        def fitted(room: int, told: Told) -> Answered:
            blocks, left, *_ = beside(room - len(said) - 1, told)
            return [missing, *blocks], left

        return fitted

    def _found(self, words: str, literal: bool) -> Callable[[int, Told], Answered]:
        terms = terms_of(words, literal)
        settings = best_settings(self._pages, terms)
        if not literal:
            terms += values_of(terms, [one.value for _, one in settings[:MAX_VALUES] if one.is_set])
        least = ENOUGH * settings[0][0] if settings else 0.0
        said = [one for worth, one in settings[:MAX_SETTINGS] if worth >= least]
        found = best_statements(self._source, terms)
        if not literal:
            found = self._hops.along(found, [one for one in settings[:MAX_SETTINGS] if one[0] >= least])
        hits = list(self._new(spread(found[:MAX_STATEMENTS])))
        unseen = self._unseen(words) if literal and not hits else ()
        lines = list(chain(self._scripts(words.split()) if literal else (), unseen))

        def fitted(room: int, told: Told) -> Answered:
            new = [hit for hit in hits if (hit.page.path, self._source.units(hit.page)[hit.place].line) not in told]
            return self._fitted(terms, [one for one in said if one.name not in told], new, lines, literal, room)

        return fitted

    def _new(self, hits: Iterable[Hit]) -> Iterator[Hit]:
        """Not a header that says no more than the line above it, nor what another function says in the same words."""
        said: dict[str, Page] = {}
        for hit in hits:
            text = self._source.units(hit.page)[hit.place].text
            is_name = not hit.place and hit.page.name and not hit.page.is_class and "=" not in text
            if not is_name and said.setdefault(text, hit.page) is hit.page:
                yield hit

    def _fitted(
        self, terms: list[Term], said: list[Setting], hits: list[Hit], lines: list[Block], literal: bool, room: int
    ) -> Answered:
        def line(one: Setting, beside: str | None) -> str:
            return setting_line(one, self._tails, beside, not literal)

        blocks = list(_settings(said, line, int(SETTINGS_SHARE * room)))
        blocks += chosen(lines, int(LINES_SHARE * room))[0]
        said_already = {one["setting"]: one["value"] for block in blocks for one in block.item.get("settings", ())}
        room -= sum(len(block.lines[0]) + 1 for block in blocks)
        excerpt = Excerpt(self._source, self._tails, room, terms, said_already.items())
        left = sum(not _taken(excerpt, self._source, hit) for hit in hits)
        if hits and left == len(hits):
            left -= excerpt.take_first(hits[0].page, hits[0].place)
        rest = list(_settings([one for one in said if one.name not in said_already], line, excerpt.room))
        missing = len(said) - len(said_already) - sum(len(block.item["settings"]) for block in rest)
        return [*blocks, *rest, *excerpt.blocks()], {"settings": missing, "statements": left}

    def _scripts(self, words: Sequence[str]) -> Iterator[Block]:
        """Lines of the launch scripts beside the recipe that hold one of the words."""
        home = PurePosixPath(self._pages.recipe).parents if self._pages.recipe else ()
        beside = {str(one) for one in home[:2]}
        scripts = [path for path in self._repository.files if path.endswith(".sh")] if beside else []
        for path in (path for path in scripts if str(PurePosixPath(path).parent) in beside):
            for number, line in enumerate(self._source.lines(path), 1):
                if any(word in line for word in words) and not line.lstrip().startswith("#"):
                    yield self._line(path, number, line)

    def _unseen(self, words: str) -> Iterator[Block]:
        """Lines of any file, where no code that the program runs says it."""
        pattern = "|".join(re.escape(word) for word in words.split())
        for hit in self._repository.search(pattern, ["*.py"], limit=MAX_UNSEEN):
            yield self._line(hit.path, hit.line, hit.text)

    def _line(self, path: str, number: int, text: str) -> Block:
        said = f" {self._tails.of(path)}:{number} {clean(text, LINE_WIDTH)}"
        return Block((), (number,), (said,), {"path": path, "line": number, "text": text.strip()})


TOLD = 110  # characters of a warning under a condition
_WARNS = re.compile(r"\bwarn(?:ing|ings)?\b")
LINES_SHARE = 0.3  # of the room, for lines of scripts and of code that is not seen to run
LINE_WIDTH = 140
MAX_UNSEEN = 6


def _taken(excerpt: Excerpt, source: Source, hit: Hit) -> bool:
    """A statement with what makes it understood; of a condition, what it leads to."""
    below = source.below(hit.page, hit.place) if hit.place else None
    if not excerpt.take(hit.page, hit.place):
        return False
    told = source.units(hit.page)[below].text if below is not None else ""
    if below is not None and (_WARNS.search(told) or not TALKS.search(told)):
        excerpt.take(hit.page, below, width=TOLD if _WARNS.search(told) else None)
    if (above := made_above(source, hit.page, hit.place)) is not None:
        excerpt.take(hit.page, above)
    for beside in ending_arm(source, hit.page, hit.place) or ():
        excerpt.take(hit.page, beside)
    return True


def _settings(said: Sequence[Setting], line: Callable[[Setting, str | None], str], room: int) -> Iterator[Block]:
    """One block for each section, as far as they fit; what a list has told not again. A list may take more."""
    told: list[str] = []
    blocks: dict[str, Block] = {}
    for place, one in enumerate(said):
        section = one.name if one.line else one.name.rpartition(".")[0] or f"/{one.place.rpartition(':')[0]}"
        first = blocks.get(section)
        text = line(one, first.item["place"] if first is not None else None)
        if any(one.name == list_ or one.name.startswith(f"{list_}.") for list_ in told) or (one.line and told[3:]):
            continue
        if len(text) + 1 > (2 * room if one.line and not place else room):
            continue
        room -= len(text) + 1
        if one.line:
            told += [one.name, one.value]
        item = {"setting": one.name, "value": one.value, "place": one.place}
        if first is None:
            blocks[section] = Block((), (place,), (text,), {**item, "settings": [item]})
        else:
            blocks[section] = first._replace(
                lines=(first.lines[0] + text,), item={**first.item, "settings": [*first.item["settings"], item]}
            )
    yield from blocks.values()


def setting_line(one: Setting, tails: Tails, beside: str | None, brief: bool) -> str:
    """ " optimizer.lr = 1e-4 C:49, before 1e-3, read train.py:30"; beside the place of another of its section
    ", .decay = 0 :50"; "" is the place of what the command gives."""
    if one.line:
        return f" {one.line}"
    path, _, number = one.place.rpartition(":")
    where = f" {tails.within(one.place) if one.place else 'the command'}"
    name = ".".join(one.name.split(".")[-NAMES:]) if brief else one.name
    if beside is not None:
        if path == beside.rpartition(":")[0]:
            where = f" :{number}" if path else ""
        name = f".{name.rpartition('.')[2]}" if "." in name else name
    comma = "" if beside is None else ","
    default = "" if one.is_set or one.is_left_out else " default"
    said = [f"{comma} {name} = {one.value or repr('')}{default}{where}"]
    if one.is_left_out:
        said[0] += " (not in the recipe)"
    if one.entry:
        said[0] += f" (of {one.entry})"
    if one.is_set and one.before and not brief:
        said.append(f"before {one.before}")
    if one.may_become:
        said.append(f"may become {tails.within(one.may_become)}")
    if one.reads and not brief and not one.is_unread:
        said.append(f"read {tails.within(one.reads[0])}")
    elif one.instead:
        said.append(f"not handed on to {tails.within(one.instead)}")
    elif one.is_unread and one.is_set:
        said.append("no reader seen")
    return ", ".join(said)
