"""Lines of files that are no code: each alone with the sections of YAML that it stands under, or indented as it is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..wording import clean

WIDTH = 100  # characters of one line
_ASIDE = re.compile(r"\s+#.*$")


def plain_line(path: str, lines: Sequence[str], number: int, is_alone: bool) -> str:
    """A line that is no code: `is_alone`, with the sections that it stands under; else indented as it is."""
    line = lines[number - 1]
    said = clean(_ASIDE.sub("", line), WIDTH)
    if not is_alone:
        return " " * depth(line, 2) + said
    return "".join(f"{one}." for one in _sections(lines, number)) + said if path.endswith(_YAML) else said


def depth(line: str, step: int) -> int:
    return (len(line) - len(line.lstrip())) // step


_YAML = (".yaml", ".yml")
_KEY = re.compile(r"(\s*(?:- )*)([\w.-]+):")


def _sections(lines: Sequence[str], number: int) -> list[str]:
    """Keys of a YAML file that a line stands under, outer first."""
    found: list[str] = []
    left = len(lines[number - 1]) - len(lines[number - 1].lstrip())
    for line in reversed(lines[: number - 1]):
        key = _KEY.match(line)
        if key is not None and len(key[1]) < left:
            found.append(key[2])
            left = len(key[1])
    return found[::-1]
