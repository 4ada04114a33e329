"""The code of a function, without what is there for readers of the file: docstring, comments, blank lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from trainsleuth.facts import Function

from ...drawing.wording import clean

WIDTH = 120
_QUOTES = ('"""', "'''")


def body_of(function: Function, lines: Sequence[str], off: Callable[[int], str] = lambda line: "") -> list[str]:
    """The lines of code below the signature, with their indentation against each other."""
    return [line for _, line in numbered_body(function, lines, off)]


def numbered_body(function: Function, lines: Sequence[str], off: Callable[[int], str]) -> list[tuple[int, str]]:
    """The same with the number of each line.

    What `off` names a setting for, which keeps the line of that number from running, is one line that says so.
    """
    if not function.events:
        return []
    start = function.events[0].line
    kept = [(start + place, line) for place, line in enumerate(lines[start - 1 : function.end_line]) if line.strip()]
    code = _without_docstring([line for _, line in kept])
    kept = [one for one in kept[len(kept) - len(code) :] if not one[1].lstrip().startswith("#")]
    edge = min((_indent(line) for _, line in kept), default=0)
    return [(number, clean_line(line[edge:])) for number, line in _live(kept, off)]


def _live(lines: Sequence[tuple[int, str]], off: Callable[[int], str]) -> Iterator[tuple[int, str]]:
    left_out = -1  # indentation of what is left out
    for number, line in lines:
        if 0 <= left_out <= _indent(line):
            continue
        why = off(number)
        left_out = _indent(line) if why else -1
        yield number, f"{' ' * left_out}# off: {why}" if why else line


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _without_docstring(lines: list[str]) -> list[str]:
    first = lines[0].lstrip().lstrip("rRuU") if lines else ""
    mark = next((quote for quote in _QUOTES if first.startswith(quote)), "")
    if not mark:
        return lines
    if mark in first[3:]:
        return lines[1:]
    end = next((place for place, line in enumerate(lines[1:], 1) if mark in line), len(lines))
    return lines[end + 1 :]


def clean_line(line: str) -> str:
    """A line of source that keeps its indentation."""
    text = line.lstrip()
    return " " * (len(line) - len(text)) + clean(text, WIDTH)
