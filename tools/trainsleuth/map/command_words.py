"""The words of a launch command: those of its launcher, and those of the program that it starts."""

from __future__ import annotations

import re
import shlex

_PROGRAM = re.compile(r"(?:^|/)[\w.-]+\.py$")


def words_behind(text: str) -> list[str]:
    """The words of a command behind the program that it starts."""
    words = _words(text)
    return words[_start(words) :]


def words_before(text: str) -> list[str]:
    """Those of its launcher."""
    words = _words(text)
    return words[: _start(words) - 1]


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text, comments=False)
    except ValueError:
        return text.split()


def _start(words: list[str]) -> int:
    """Behind the program's name: what stands before it belongs to its launcher."""
    for place, word in enumerate(words):
        if _PROGRAM.search(word):
            return place + 1
        if word == "-m" and place + 1 < len(words) and not words[place + 1].startswith("torch.distributed"):
            return place + 2
    return 1
