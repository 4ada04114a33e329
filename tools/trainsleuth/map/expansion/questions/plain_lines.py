"""Lines of files that are no code: each alone with the sections of YAML that it stands under, or indented as it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ...drawing.wording import clean

WIDTH = 100  # characters of one line
OF_LONG = 240  # of one that holds a long value
_ASIDE = re.compile(r"\s+#.*$")


def plain_line(path: str, lines: Sequence[str], number: int, says: Callable[[str], bool] | None) -> str:
    """A line that is no code: with the sections that it stands under, and of a long one what `says` is sought; else
    indented as it is.
    """
    line = lines[number - 1]
    text = _ASIDE.sub("", line)
    if says is None:
        return " " * depth(line, 2) + clean(text, OF_LONG)
    said = clean(_that_says(text.strip(), says), OF_LONG)
    return "".join(f"{one}." for one in _sections(lines, number)) + said if path.endswith(_YAML) else said


def _that_says(text: str, says: Callable[[str], bool]) -> str:
    """A long value with those of its items that match: criterion: "Sum(…, alpha=0.2, …"""
    first, *pieces = text.split(", ")
    found = [place for place, one in enumerate(pieces) if says(one)]
    if len(text) <= OF_LONG or not found:
        return text
    said, last = [clean(first, WIDTH)], -1
    for place in found:
        said += [*(["…"] if place > last + 1 else []), pieces[place]]
        last = place
    return ", ".join([*said, *(["…"] if last < len(pieces) - 1 else [])])


def depth(line: str, step: int) -> int:
    return (len(line) - len(line.lstrip())) // step


_YAML = (".yaml", ".yml")
_KEY = re.compile(r"(\s*(?:- )*)([\w.-]+):")


def table_line(lines: Sequence[str], first: int, number: int) -> str:
    """A line of a table in Python that begins in the line `first`, with the sections that it stands under."""
    said = clean(_QUOTED.sub(r"\1", _ASIDE.sub("", lines[number - 1].strip()).rstrip(",")), WIDTH)
    return "".join(f"{one}." for one in _sections(lines, number, first, _OPENS)) + said


_QUOTED = re.compile(r"""^["']([\w.-]+)["']""")
_OPENS = re.compile(r"""(\s*)["']?([\w.-]+)["']?\s*[:=]\s*[\w.]*[\[({]+\s*(?:#.*)?$""")


def _sections(lines: Sequence[str], number: int, first: int = 1, opens: re.Pattern[str] = _KEY) -> list[str]:
    """Keys of a YAML file that a line stands under, outer first."""
    found: list[str] = []
    left = len(lines[number - 1]) - len(lines[number - 1].lstrip())
    for line in reversed(lines[first - 1 : number - 1]):
        if not left:
            break
        key = opens.match(line)
        if key is not None and len(key[1]) < left:
            found.append(key[2])
            left = len(key[1])
    return found[::-1]
