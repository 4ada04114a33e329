"""Lines that match a pattern, or all of a file, one short line for each statement: what a search gives that knows the run.

Comments and docstrings are left out, a long statement is told with those of its arguments that match, and a name that is
a setting stands with its value.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from trainsleuth.repository import Repository, is_notebook, is_source

from ...drawing.wording import clean
from ..blocks.writing import Block, chosen
from ..run_sheet.tails import Tails
from .folded import folded, signature
from .near_names import files_like, like
from .pages import Note, Page, Pages
from .plain_lines import WIDTH, depth, plain_line, table_line
from .says import LONGEST, MOST, OFF, Line, Says, compiled, together
from .sources import Source
from .units import Unit, narrowed
from .unloaded import read_pages

OF_MANY = 240  # of a statement with all its arguments that match, and of one in a range
OTHERS = 6  # more lines that say the same
MOST_OF_TABLE = 200  # lines of one statement
VALUE = 40  # of what a name in it is worth
_FROM_TO = re.compile(r"(?P<path>.+?)(?::(?P<ranges>\d+-\d+(?:\+\d+-\d+)*))?")
_RANGE = re.compile(r"(\d{1,9})-(\d{1,9})")
_BETWEEN = re.compile(r"[\s,|]+")  # files, one after the other: in a.py b.yaml, in a.py|b.yaml
_EVERYTHING = re.compile(r"/(?:\.?\*+)(?:\.\w+)?$")  # of a folder: models/*, models/.*, models/*.py
_COMMENT = re.compile(r"\s*(?:#|//|$)|\s*---$")


class Lines:
    """Of the files of one program, and of any other file of its repository that is named."""

    def __init__(self, source: Source, pages: Pages, tails: Tails, repository: Repository) -> None:
        self._source, self._pages, self._tails, self._repository = source, pages, tails, repository
        self._statements: dict[str, list[Unit]] = {}
        self._outlines: dict[str, list[Page]] = {}
        self._of_table: Counter[tuple[str, int]] = Counter()  # by the statement, how many of its lines are told

    def matching(self, words: str) -> list[Block]:
        """`words`: a regular expression (Rust syntax) and, behind " in ", files (a.py:Trainer, a.py:10-40) or folders; else
        what the program loads.
        Of each alternative the first match first. Raises RepositoryError for what is no regular expression."""
        pattern, places = self._meant(words)
        within = {path: span for one in places for path, span in self._spans(one)}
        where = [one.partition(":")[0] for one in places]
        missing = [one for one in where if not self._named([one])]
        near = list(dict.fromkeys(path for one in missing for path in files_like(self._repository.files, one)))
        said = f"no file and no folder is called {' or '.join(missing)}{like(near)}"
        lacking = [_said(said)] if missing else []
        if missing == where != []:
            return lacking
        files = {path: place for place, path in enumerate(self._named(where) if where else self._loaded())}
        found = self._repository.search(pattern, _globs(files) if where else (), limit=MOST)
        hits = [(hit.path, hit.line) for hit in found if hit.path in files]
        hits = [hit for hit in hits if not is_notebook(hit[0])]
        hits += (hit for path in files if is_notebook(path) for hit in self._in_cells(path, pattern))
        hits = [(path, number) for path, number in hits if path not in within or number in within[path]]
        hits.sort(key=lambda hit: (files[hit[0]], hit[1]))
        says = Says(pattern)
        lines = together(dict.fromkeys(line for path, number in hits for line in self._line(path, number, says)))
        if not lines:
            return [*lacking, _said(f"no line of {len(files)} files matches; comments and docstrings are not searched")]
        owners: dict[str, set[str]] = {}
        for line in lines:
            owners.setdefault(line.path, set()).add(line.owner)
        told = says.in_turn(lines)
        return lacking + [self._block(line, files[line.path], len(owners[line.path]) > 1) for line in told]

    def _spans(self, where: str) -> Iterator[tuple[str, range]]:
        """Of "a.py:10-40" and "a.py:Trainer.fit" the file and the lines that are meant."""
        name, _, part = where.partition(":")
        for path in self._named([name]) if part else ():
            if match := _RANGE.fullmatch(part):
                yield path, range(int(match[1]), int(match[2]) + 1)
                continue
            every = self._source.of_file.get(path) or self._outlined(path)
            fits = [page for page in every if f".{page.name}".endswith(f".{part}")]
            if page := min(fits, key=lambda page: (not page.is_class, page.line), default=None):
                yield path, range(page.line, page.end_line + 1)

    def _in_cells(self, path: str, pattern: str) -> Iterator[tuple[str, int]]:
        """Lines of the code of a notebook, which its file holds as texts of JSON."""
        sought = compiled(pattern)
        for number, line in enumerate(self._source.lines(path), 1):
            if sought is not None and sought.search(line[:LONGEST]):
                yield path, number

    def between(self, where: str) -> list[Block]:
        """`where`: the end of a path, or PATH:FIRST-LAST+FIRST-LAST; nothing where no file is called so."""
        match = _FROM_TO.fullmatch(where)
        path = next(iter(self._named([match["path"]])), None) if match is not None else None
        if match is None or path is None or (not match["ranges"] and path not in self._exact(match["path"])):
            return []
        given = match["ranges"] or f"1-{MOST}"
        ranges = [
            range(int(first), int(last) + 1) for first, _, last in (one.partition("-") for one in given.split("+"))
        ]
        lines = dict.fromkeys(self._from_to(path, ranges))
        in_turn = sorted(lines, key=lambda line: min((line.number - one.start for one in ranges if line.number in one), default=0))  # fmt: skip
        return [self._block(line, 0) for line in in_turn]

    def _from_to(self, path: str, ranges: Sequence[range]) -> Iterator[Line]:
        lines = self._source.lines(path)
        asked = sorted({number for one in ranges for number in one if number <= len(lines)})
        if not is_source(path):
            for number in asked:
                yield from self._line(path, number, None)
            return
        every = self._units(path)
        places = [place for place, unit in enumerate(every) if any(_meets(unit, one) for one in ranges)]
        for unit, text, is_off in folded(every, places, lambda unit: self._worth(path, unit) == OFF):
            if text.lstrip("rRuU")[:1] in ("'", '"'):  # a docstring
                yield Line(path, unit.line, f"{' ' * (unit.indent // 4)}{clean(lines[unit.line - 1], WIDTH)}")
            elif unit.end_line > unit.line and unit.line in asked and (head := signature(text)):
                yield Line(path, unit.line, f"{' ' * (unit.indent // 4)}{clean(head, OF_MANY)}")
            elif unit.end_line > unit.line and len(text) > OF_MANY:  # a table, line by line
                for number in range(unit.line, unit.end_line + 1):
                    if any(number in one for one in ranges) and not _COMMENT.match(lines[number - 1]):
                        said = " " * depth(lines[number - 1], 4) + clean(lines[number - 1], OF_MANY)
                        yield Line(path, number, said)
            else:
                worth = OFF if is_off else self._worth(path, unit)
                yield Line(path, unit.line, f"{' ' * (unit.indent // 4)}{clean(text, OF_MANY)}{worth}")

    def _meant(self, words: str) -> tuple[str, list[str]]:
        """The pattern, and the files and folders behind " in "; that may also belong to it: "for x in loader"."""
        pattern, _, where = words.rpartition(" in ")
        named = [_EVERYTHING.sub("", one) for one in _BETWEEN.split(where) if one]
        is_where = pattern and any("." in one or "/" in one or self._named([one]) for one in named)
        return (pattern, named) if is_where else (words, [])

    def _exact(self, name: str) -> list[str]:
        name = self._repository.behind_links(name)
        return [path for path in self._repository.files if path == name or path.endswith(f"/{name}")]

    def _named(self, names: Iterable[str]) -> list[str]:
        """Files by the end of their path, those of the run alone where it has one that is called so; or all of a folder."""
        ours = {*self._loaded()}
        found: dict[str, None] = {}
        for name in names:
            name = self._lettered.get(name, name)
            folder = f"/{self._repository.behind_links(name.strip('/'))}/"
            called = [path for path in self._repository.files if f"/{path}/".endswith(folder)]
            inside = [path for path in self._repository.files if folder in f"/{path}"]
            found.update(dict.fromkeys([*([one for one in called if one in ours] or called), *inside]))
        return sorted(found, key=lambda path: (path not in ours, path.count("/"), path))

    @cached_property
    def _lettered(self) -> Mapping[str, str]:
        """Files by the letters that stand for them on the sheet."""
        return {letter: path for path, letter in self._pages.names.items()}

    def _loaded(self) -> list[str]:
        settings = (one.place.rpartition(":")[0] for one in self._pages.settings)
        return [*filter(None, dict.fromkeys((self._pages.recipe, *settings, *self._source.of_file)))]

    def _line(self, path: str, number: int, says: Says | None) -> Iterator[Line]:
        """The statement around a line of code that says it; of another file the line itself."""
        lines = self._source.lines(path)
        if number > len(lines) or _COMMENT.match(lines[number - 1]):
            return
        if says is None or not is_source(path):
            yield Line(path, number, plain_line(path, lines, number, says.any if says is not None else None))
            return
        every = self._units(path)
        place = bisect_right(every, number, key=lambda one: one.line) - 1
        unit = every[place] if place >= 0 and number <= every[place].end_line else None
        if unit is None or self._of_table[path, unit.line] > MOST_OF_TABLE or not says.may(unit.text):  # a docstring
            return
        text = unit.text if len(unit.text) <= WIDTH else says.kept.get((path, unit.line))
        if text is None:
            text = says.kept[path, unit.line] = narrowed(unit.text, says.any, OF_MANY)
        if number > unit.line and not says.any(clean(text, OF_MANY)) and says.any(lines[number - 1]):  # deep in a table
            self._of_table[path, unit.line] += 1
            yield Line(path, number, table_line(lines, unit.line, number))
            return
        around = self._around(path, unit.line)
        is_idle = path in self._source.of_file and around is not None and _is_idle(around)
        said = f"{clean(text, OF_MANY)}{self._worth(path, unit)}"
        under = "" if is_idle else self._note(path, unit.line).under
        yield Line(path, unit.line, said, is_idle, self._owner(path, unit.line), under=under)

    def _units(self, path: str) -> list[Unit]:
        if path not in self._statements:
            pages = self._outlined(path)
            alone = Source(self._source.lines, Pages("", "", {}, (), tuple(pages), {}))
            self._statements[path] = alone.units(pages[0])
        return self._statements[path]

    def _outlined(self, path: str) -> list[Page]:
        """Its functions and classes as they are written."""
        if path not in self._outlines:
            self._outlines[path] = list(read_pages(path, list(self._source.lines(path))))
        return self._outlines[path]

    def _around(self, path: str, line: int) -> Page | None:
        """The innermost function or class."""
        every = self._source.of_file.get(path) or self._outlined(path)
        return max((page for page in every if _holds(page, line)), key=_begin, default=None)

    def _owner(self, path: str, line: int) -> str:
        """The class that a line stands in; "" for its own first line."""
        every = self._source.of_file.get(path) or self._outlined(path)
        inside = [page for page in every if page.is_class and page.line < line <= page.end_line]
        return max(inside, key=_begin).name.rstrip(".") if inside else ""

    def _worth(self, path: str, unit: Unit) -> str:
        """What the names that it says are worth, or that it does not run."""
        note, around = self._note(path, unit.line), self._around(path, unit.line)
        if note.off or (around is not None and around.off):
            return OFF
        sure = [(name, value) for name, value in note.values if "; may become " not in value]
        named = [(name.rpartition(".")[2], _without_places(value)) for name, value in sure]
        said = [f"{name} = {value}" for name, value in named if re.search(rf"\b{re.escape(name)}\b", unit.text)]
        kept = [one for one in dict.fromkeys(said) if len(one) <= VALUE]
        return f"  # {', '.join(kept)}" if kept else ""

    def _note(self, path: str, line: int) -> Note:
        notes = (self._source.note(page, line) for page in self._source.of_file.get(path, ()) if _holds(page, line))
        return next((one for one in notes if one.off or one.values or one.under), Note(line, "", ()))

    def _block(self, line: Line, order: int, is_owner_told: bool = False) -> Block:
        item = {"path": line.path, "line": line.number, "text": line.text}
        others = [*map(str, line.others[:OTHERS]), *(["..."] if len(line.others) > OTHERS else [])]
        more = f" (also {', '.join(others)})" if others else ""
        under = f"{', ' if '  # ' in line.text else '  # '}when {line.under}" if line.under else ""
        said = f" {line.number} {line.text}{under}{more}"
        tail = self._tails.tail(line.path)
        above = (tail, f" class {line.owner}") if is_owner_told and line.owner else (tail,)
        return Block(above, (order, line.number), (said,), item)


def _meets(unit: Unit, asked: range) -> bool:
    return unit.line < asked.stop and unit.end_line >= asked.start


def _globs(paths: Collection[str]) -> list[str]:
    """Of a few files; none where that would be many or no plain names."""
    names = {path.rpartition("/")[2] for path in paths}
    return (
        [f"**/{one}" for one in sorted(names)]
        if len(names) <= FEW and not re.search(r"[][*?{}!]", "".join(names))
        else []
    )


FEW = 40  # files that a search is kept to


def _is_idle(page: Page) -> bool:
    """A function that this run never calls."""
    return not page.is_reached and not page.is_class and page.name != ""


def _said(text: str) -> Block:
    return Block((), (0,), (f" {text}",), {"missing": text})


def _begin(page: Page) -> int:
    return page.line


def _holds(page: Page, line: int) -> bool:
    return page.line <= line <= page.end_line


def fitting(blocks: Sequence[Block], room: int) -> tuple[list[Block], dict[str, int], str]:
    """What fits into `room` characters, how many lines do not, and where the first of these stand: fit.py:12 :15"""
    taken, left = chosen(blocks, room)
    places, path = "", ""
    for block in left[:NEXT_ONES]:
        file = str(block.item.get("path", "")).rpartition("/")[2]
        said = f" {file if file != path else ''}:{block.item.get('line', '')}"
        if not file or len(places) + len(said) > PLACES:
            break
        places, path = places + said, file
    return taken, {"lines": len(left)}, places.strip()


NEXT_ONES = 3
PLACES = 26  # characters of them


def _without_places(value: str) -> str:
    """False or True, of "False (default :78) or True (train.py:64)"."""
    return " or ".join(one.partition(" (")[0] for one in value.split(" or "))
