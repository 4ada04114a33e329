"""The code of a function, without what is there for readers of the file: docstring, comments, blank lines."""

from __future__ import annotations

from collections.abc import Sequence

from trainsleuth.facts import Function

from ..wording import clean

WIDTH = 120
_QUOTES = ('"""', "'''")


def body_of(function: Function, lines: Sequence[str]) -> list[str]:
    """The lines of code below the signature, with their indentation against each other."""
    if not function.events:
        return []
    kept = [line for line in lines[function.events[0].line - 1 : function.end_line] if line.strip()]
    kept = [line for line in _without_docstring(kept) if not line.lstrip().startswith("#")]
    edge = min((len(line) - len(line.lstrip()) for line in kept), default=0)
    return [clean_line(line[edge:]) for line in kept]


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
