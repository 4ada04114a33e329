"""What is written for readers beside code: the comment of a statement, the beginning of a docstring."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .pages import Page
from .units import Unit

MAX_LINES = 4  # of a comment; longer ones are licenses and code that was put aside
MAX_TEXT = 300  # characters of a docstring
_BEHIND = re.compile(r"\s#\s*(\w.*)$")
_ABOVE = re.compile(r"\s*#\s*(.*)$")
_OPENS = re.compile(r"\s*[rRuU]?(\"{3}|'{3})(.*)")
MAX_HEADER = 40  # lines of the parameters of a function


def comment_of(lines: Sequence[str], unit: Unit) -> str:
    """Behind the first line of a statement, and above it."""
    behind = _BEHIND.search(lines[unit.line - 1])
    found = [behind[1]] if behind is not None else []
    above: list[str] = []
    line = unit.line - 2
    while line >= 0 and (match := _ABOVE.match(lines[line])) is not None:
        above.append(match[1])
        line -= 1
    return " ".join([*(reversed(above) if len(above) <= MAX_LINES else ()), *found])


def docstring_of(lines: Sequence[str], page: Page) -> str:
    """The beginning of that of a function or class; "" for none."""
    first = next((one for one in page.begins if one > page.line), page.end_line)
    for number in range(page.line, min(first + 1, page.line + MAX_HEADER, len(lines))):
        opened = _OPENS.match(lines[number])
        if opened is not None:
            text = " ".join([opened[2], *lines[number + 1 : number + 8]])
            return text.partition(opened[1])[0][:MAX_TEXT]
    return ""
