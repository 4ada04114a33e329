"""A text as what is shown of it at once: whole statements, each with the headers that it stands under."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from ...drawing.wording import clean

WIDTH = 320  # characters of one statement
_CLAUSE = re.compile(r"\s*(?:else|try|finally|elif\b.*|except\b.*|case\b.*)\s*:")
_ELSE = re.compile(r"else\b|except\b|finally\b")
_BRACKETS = "()[]{},: "
_QUOTES = ('"""', "'''")
_STRING = r"""(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"""
_IN_STRING_OR_SPARE = re.compile(
    rf"({_STRING})"  # stays as it is
    r"|(?<=[(\[{]) | (?=[)\]}])"  # a space inside of brackets
    rf"|(?<![\w\])])(\((?:{_STRING}|[^(),\"']|\([^()]*\))*,)(?=\))|, ?(?=[)\]}}])"  # the last comma, but that of (sigma,)
)


class Unit(NamedTuple):
    """`above` are places, among all units, of the headers that it stands under, outer first.

    `is_part`: one argument or link of a long statement that puts objects together, whose beginning is its header.
    """

    line: int
    end_line: int
    indent: int
    text: str
    above: tuple[int, ...]
    is_part: bool = False


def units(lines: Sequence[str], first: int, last: int, begins: Collection[int]) -> list[Unit]:
    """Statements of the lines `first` to `last`; `begins` are the lines on which they begin, empty for plain text."""
    starts = [
        line
        for line in range(first, last + 1)
        if line == first or line in begins or _CLAUSE.match(lines[line - 1]) or (not begins and lines[line - 1].strip())
    ]
    found: list[Unit] = []
    for start, after in zip(starts, [*starts[1:], last + 1], strict=True):
        text = joined(lines[start - 1 : after - 1])
        if text.strip(_BRACKETS) and not text.startswith(("#", *_QUOTES)):
            indent = len(lines[start - 1]) - len(lines[start - 1].lstrip())
            whole = Unit(start, after - 1, indent, text, ())
            found += _parts(whole, lines) if len(text) > WIDTH else [whole]
    return list(_under(found))


def _parts(whole: Unit, lines: Sequence[str]) -> list[Unit]:
    """config = (X(a=1).with_part("b", Y(c=2))) as its head, X(a=1) and .with_part("b", Y(c=2)); others as they are."""
    depth, starts = 0, []
    for line in range(whole.line, whole.end_line + 1):
        code = joined(lines[line - 1 : line])
        if depth == 1 and code.strip(_BRACKETS):
            starts.append(line)
        depth += sum(code.count(one) for one in "([{") - sum(code.count(one) for one in ")]}")
        if depth <= 0:
            break
    if not any(_PUTS_IN.match(lines[line - 1]) for line in starts):
        return [whole]
    found = [whole._replace(end_line=starts[0] - 1, text=joined(lines[whole.line - 1 : starts[0] - 1]))]
    for start, after in zip(starts, [*starts[1:], line], strict=True):
        text, last = joined(lines[start - 1 : after - 1]), found[-1]
        if last.is_part and not _PUTS_IN.match(text) and len(last.text) + len(text) < SHORT:
            found[-1] = last._replace(end_line=after - 1, text=f"{last.text} {text}")
        else:
            found.append(Unit(start, after - 1, whole.indent + 4, text, (), True))
    return found


SHORT = 110  # characters of several arguments in one line
_PUTS_IN = re.compile(r"\s*(?:\.\w+\(|(?:\w+=)?(?:\w+\.)*[A-Z]\w*[a-z]\w*\($)")  # a link of a chain, an object


def joined(lines: Sequence[str]) -> str:
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
    return _IN_STRING_OR_SPARE.sub(lambda found: found[1] or found[2] or "", text)


def _under(found: Sequence[Unit]) -> Iterator[Unit]:
    """With the headers of each: what stands before it with less indentation; of an `else` the arm before it, too."""
    open_: list[tuple[int, Unit]] = []
    for place, unit in enumerate(found):
        closed: list[tuple[int, Unit]] = []
        while open_ and open_[-1][1].indent >= unit.indent:
            closed.append(open_.pop())
        above = (*open_[-1][1].above, open_[-1][0]) if open_ else ()
        if _ELSE.match(unit.text) and closed and closed[-1][1].indent == unit.indent:
            above = (*above, closed[-1][0])
        unit = unit._replace(above=above)
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
    if last < 0:
        return clean(text, width)
    end = "" if last == len(pieces) - 1 else "…"
    first, rest = said[0], ", ".join(said[1:])
    return clean(first + rest + (", " if rest and end else "") + end, 2 * width)


def _pieces(text: str) -> list[str]:
    """What stands before the first bracket that holds several things, and these."""
    depth, start, quote = 0, 0, ""
    found: list[str] = []
    for place, one in enumerate(text):
        if quote or one in "\"'":
            quote = one if not quote else "" if one == quote else quote
        elif one in "([{":
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
