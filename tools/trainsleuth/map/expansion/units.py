"""A text as what is shown of it at once: whole statements, each with the headers that it stands under."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from ..wording import clean

WIDTH = 320  # characters of one statement
_CLAUSE = re.compile(r"\s*(?:else|try|finally|elif\b.*|except\b.*|case\b.*)\s*:")
_SECOND = re.compile(r"\s*(?:else|finally|elif\b|except\b)")
_BRACKETS = "()[]{},: "
_QUOTES = ('"""', "'''")


class Unit(NamedTuple):
    """`above` are places, among all units, of the headers that it stands under, outer first."""

    line: int
    end_line: int
    indent: int
    text: str
    above: tuple[int, ...]


def units(lines: Sequence[str], first: int, last: int, begins: Collection[int]) -> list[Unit]:
    """Statements of the lines `first` to `last`; `begins` are the lines on which they begin, empty for plain text."""
    starts = [
        line
        for line in range(first, last + 1)
        if line == first or line in begins or _CLAUSE.match(lines[line - 1]) or (not begins and lines[line - 1].strip())
    ]
    found: list[Unit] = []
    for start, after in zip(starts, [*starts[1:], last + 1], strict=True):
        text = _joined(lines[start - 1 : after - 1])
        if text.strip(_BRACKETS) and not text.startswith(("#", *_QUOTES)):
            indent = len(lines[start - 1]) - len(lines[start - 1].lstrip())
            found.append(Unit(start, after - 1, indent, text, ()))
    return list(_under(found))


def _joined(lines: Sequence[str]) -> str:
    """A statement as one line, without comments and what follows its last bracket."""
    depth, kept = 0, []
    for line in lines:
        code = re.split(r"\s#|^\s*#", line)[0].strip() if '"#' not in line and "'#" not in line else line.strip()
        if not code:
            continue
        kept.append(code.rstrip("\\").strip())
        depth += sum(code.count(one) for one in "([{") - sum(code.count(one) for one in ")]}")
        if depth <= 0 and not code.endswith(("\\", *_QUOTES)):
            break
    text = " ".join(" ".join(kept).split())
    text = re.sub(r"(?<=[(\[{]) | (?=[)\]}])", "", text)
    return re.sub(r",(?=[)\]}])", "", text)


def _under(found: Sequence[Unit]) -> Iterator[Unit]:
    """With the headers of each: what stands before it with less indentation; those of an `else` end in its `if`."""
    open_: list[tuple[int, Unit]] = []
    for place, unit in enumerate(found):
        closed: list[tuple[int, Unit]] = []
        while open_ and open_[-1][1].indent >= unit.indent:
            closed.append(open_.pop())
        of = closed[-1:] if _SECOND.match(unit.text) and closed and closed[-1][1].indent == unit.indent else open_[-1:]
        over = of[0] if of else None
        unit = unit._replace(above=(*over[1].above, over[0]) if over is not None else ())
        open_.append((place, unit))
        yield unit


def narrowed(text: str, says: Callable[[str], bool], width: int) -> str:
    """A long statement with those of its arguments that say something, each whole; … stands for the others."""
    if len(text) <= width:
        return text
    head, *pieces = _pieces(text)
    kept = [one for one in pieces if says(one)]
    if not kept or len(head) > width:
        kept = pieces
    said, last = [head], -1
    room = width - len(head)
    for place, piece in enumerate(pieces):
        if piece in kept and len(piece) + 4 <= room:
            said.append(f"{'' if place == last + 1 else '…, '}{piece}")
            room -= len(said[-1]) + 2
            last = place
    end = "" if last == len(pieces) - 1 else "…"
    first, rest = said[0], ", ".join(said[1:])
    return clean(first + rest + (", " if rest and end else "") + end, 2 * width)


def _pieces(text: str) -> list[str]:
    """What stands before the first bracket that holds several things, and these."""
    depth, start = 0, 0
    found: list[str] = []
    for place, one in enumerate(text):
        if one in "([{":
            depth += 1
            if depth == 1 and not found:
                found.append(text[: place + 1])
                start = place + 1
        elif one in ")]}":
            depth -= 1
        elif one == "," and depth == 1:
            found.append(text[start:place].strip())
            start = place + 1
    return [*found, text[start:].strip()]
