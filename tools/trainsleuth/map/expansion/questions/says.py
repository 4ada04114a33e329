"""What a search says: its alternatives, and in which turn the lines are told that hold them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from .ranking import TALKS

MOST = 100_000  # hits in a repository
LONGEST = 2_000  # characters of a statement, and of a line of a notebook, that are searched here
OFF = "  # off"
_BOUND = re.compile(r"[ \"']*([\w.]+(?:, [\w.]+)*)[\"']?(?:: (?!\s*#)|\s*[-+*/]?=(?!=))")
_ASKS_ONLY = re.compile(r"(?:if|elif|while|assert) (?:not )?[\w.]+(?: is (?:not )?None)?:?(?:  #.*)?$")
_HEADING = re.compile(r"(?:async )?def (\w+)\(|class (\w+)")


class Line(NamedTuple):
    """`is_idle`: of a function that this run never calls. `others`: more lines of the file that say the same. `under`:
    the test of the arm that it stands in.
    """

    path: str
    number: int
    text: str
    is_idle: bool = False
    owner: str = ""  # the class that it stands in
    others: tuple[int, ...] = ()
    under: str = ""


def compiled(pattern: str) -> re.Pattern[str] | None:
    """As Python reads it; None for what only the search itself knows."""
    try:
        return re.compile(pattern)
    except re.error:
        return None


def together(lines: Collection[Line]) -> list[Line]:
    """Lines of one class of a file that say the same as one."""
    alike: dict[tuple[str, str, str, str], list[Line]] = {}
    for line in lines:
        alike.setdefault((line.path, line.owner, line.text, line.under), []).append(line)
    return [first._replace(others=tuple(one.number for one in more)) for first, *more in alike.values()]


def _word(alternative: str) -> str:
    """What tells one alternative from the others: lr of args\\.(lr, fit of def fit, optimizer.step of optimizer\\.step."""
    plain = re.sub(r"\\[bBsSwWdD][*+?]?", " ", alternative).replace("\\", "")
    words = re.findall(r"\w[\w.]*\w|\w", plain)
    return next((one for one in reversed(words) if one not in _COMMON), words[0] if words else "").lower()


_COMMON = frozenset(
    [
        "self",
        "def",
        "class",
        "return",
        "if",
        "elif",
        "for",
        "in",
        "not",
        "is",
        "None",
        "True",
        "False",
        "import",
        "from",
        "and",
        "or",
    ]
)


class Says:
    """The alternatives of a pattern, as words: which of them a text says."""

    def __init__(self, pattern: str) -> None:
        self._words = [word for one in pattern.split("|") if (word := _word(one))]
        self._sought = compiled(pattern)
        self.kept: dict[tuple[str, int], str] = {}  # statements as they are told, by their files and lines

    def any(self, text: str) -> bool:
        if self._sought is not None:
            return self._sought.search(text[:LONGEST]) is not None
        return self._has_word(text)

    def may(self, text: str) -> bool:
        """Also a statement of which only the line as it is written matches."""
        return self.any(text) or self._has_word(text)

    def _has_word(self, text: str) -> bool:
        return not self._words or any(word in text.lower() for word in self._words)

    def in_turn(self, lines: Collection[Line]) -> Sequence[Line]:
        """The first of each alternative before the second of any: one that is said often does not hide the others.
        What says what a word is worth comes before what uses it, and that before what only asks whether it is there;
        what is off or never called after what runs, and what is only told to a user last.
        """
        count: Counter[str] = Counter()
        turns: dict[Line, int] = {}
        for line in sorted(lines, key=self._lateness):
            said = [word for word in self._words if word in line.text.lower()] or [""]
            talks = TALKS.search(line.text) is not None
            turns[line] = MOST if talks else min(count[word] for word in said)
            count.update(() if talks else said)
        return sorted(lines, key=lambda line: turns[line])

    def _lateness(self, line: Line) -> tuple[bool, bool, bool]:
        return (line.is_idle or line.text.endswith(OFF), self._only_asks(line.text), not self._tells(line.text))

    def _only_asks(self, text: str) -> bool:
        """if path is None:, and a signature that has it as an argument without a value."""
        if heading := _HEADING.match(text):
            name = (heading[1] or heading[2]).lower()
            return not any(
                word in name or re.search(rf"\b{re.escape(word)}\w*(?:: [^,=]+)? ?=", text.lower())
                for word in self._words
            )
        return _ASKS_ONLY.match(text) is not None

    def _tells(self, text: str) -> bool:
        """warmup_steps = int(...), self.lr: float = 0.1, lr: 2e-5 of a file of settings."""
        found = _BOUND.match(text)
        return found is not None and any(word in found[1].lower() for word in self._words)
