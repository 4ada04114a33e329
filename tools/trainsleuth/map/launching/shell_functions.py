"""Functions of a shell script: their arguments are what the first call of each gives them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

_HEAD = re.compile(r"^(?:function\s+)?([A-Za-z_][\w-]*)\s*\(\)\s*\{?\s*$|^function\s+([A-Za-z_][\w-]*)\s*\{?\s*$")
_END = re.compile(r"^\}")
_ARGUMENT = re.compile(r"\$(?:\{([1-9])\}|([1-9])(?!\d))")
MAX_FUNCTIONS = 50
MAX_CALL = 1000  # characters of what a call gives: "$@" may stand in every line
_ALL = re.compile(r"\"?\$(?:\{@\}|@)\"?")


class _Defined(NamedTuple):
    """Lines count from 0; the body stands between them."""

    name: str
    first: int
    last: int


def with_arguments(lines: Sequence[str]) -> list[str]:
    """The same lines, where $1 in a function is what its first call gives: train small.yaml below train() { ... $1 ... }

    A function that nothing calls, or that calls itself alone, stays as it is.
    """
    told = list(lines)
    for one in islice(_defined(lines), MAX_FUNCTIONS):
        if (words := _first_call(lines, one)) is not None:
            for at in range(one.first + 1, one.last):
                told[at] = _ALL.sub(" ".join(words), _ARGUMENT.sub(lambda match: _given(match, words), told[at]))
    return told


def _given(match: re.Match[str], words: Sequence[str]) -> str:
    place = int(match[1] or match[2])
    return words[place - 1] if place <= len(words) else ""


def _defined(lines: Sequence[str]) -> Iterator[_Defined]:
    at = 0
    while at < len(lines):
        head = _HEAD.match(lines[at])
        if head is not None:
            last = next((end for end in range(at + 1, len(lines)) if _END.match(lines[end])), at)
            yield _Defined(head[1] or head[2], at, last)
            at = last
        at += 1


def _first_call(lines: Sequence[str], function: _Defined) -> list[str] | None:
    called = re.compile(rf"^\s*(?:[A-Za-z_]\w*=\S*\s+)*{re.escape(function.name)}(?:\s+(.*))?$")
    for at, line in enumerate(lines):
        if not function.first <= at <= function.last and (match := called.match(line)) is not None:
            given = (match[1] or "").rstrip("\\")
            try:
                return shlex.split(given, comments=True) if len(given) <= MAX_CALL else None
            except ValueError:
                return None
    return None
