"""Which lines of a repository the text of an expansion shows: by their place, or by a piece of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

NEAR = 2  # lines between a statement and a line of it
LEAST = 8  # characters of a piece that says where it is from
_REFERS = re.compile(r"(?:, | · )?\b(?:read|called at|also) (?:[\w./-]*:\d+(?:, )?)+")
_LETTER = re.compile(r"\b([A-Z]) is (\S+)")
_HEADING = re.compile(r"([A-Z]|[\w.-][\w./-]*\.\w+)(?= |$)")  # of a function, with its statements below
_BELOW = re.compile(r"^[ …]*(\d+) |(?<=› )(\d+) ")
_PLACE = re.compile(r"(?<![\w./-])([A-Z]|[\w./-]+\.\w+)?(?:(?<=\w)|(?<=[ (])):(\d+)(?:-(\d+))?(?!\w)")


class Shown:
    """The text of one expansion. What it only refers to ("called at train.py:30") is not shown."""

    def __init__(self, text: str) -> None:
        self._letters = dict(_LETTER.findall("\n".join(text.splitlines()[:2])))
        self._lines: dict[str, set[int]] = {}
        self._said: dict[str, list[str]] = {}
        under = ""
        for line in (line for line in text.splitlines() if not line.startswith("#")):
            heading = _HEADING.match(line)
            under = heading[1] if heading is not None else under
            below = [(under, int(one or other)) for one, other in _BELOW.findall(line)]
            line = _REFERS.sub("", line)
            for name, number in (*below, *_places(line, under)):
                self._lines.setdefault(name, set()).add(number)
                self._said.setdefault(name, []).append(_plain(line))

    def holds(self, place: str, piece: str) -> bool:
        """A line within NEAR of "path:line", or the piece in what is shown of that file."""
        path, _, line = place.rpartition(":")
        names = [
            name for name in self._lines if path == name or f"/{path}".endswith(f"/{self._letters.get(name, name)}")
        ]
        if any(abs(one - int(line)) <= NEAR for name in names for one in self._lines[name]):
            return True
        plain = _plain(piece)
        return len(plain) >= LEAST and any(plain in said for name in names for said in self._said[name])


def _places(line: str, under: str) -> Iterator[tuple[str, int]]:
    """Names of files with lines; ":29" is a line of the file that was named last."""
    last = under
    for found in _PLACE.finditer(line):
        last = found[1] or last
        yield from ((last, one) for one in range(int(found[2]), int(found[3] or found[2]) + 1))


def _plain(text: str) -> str:
    return re.sub(r"[\s\"']|,(?=[)\]}])", "", text)
