"""One expansion: everything about one part of a program, within a budget of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..records import COMPONENTS, Status, tokens

EXPANDABLE = (*COMPONENTS, "batch", "run")
ASKED = ("ask", "find", "lines", "open")  # before a question, words, a regular expression, a place or a name
_WITH_COMMAS = ("ask ", "lines ")


class UnknownPartError(ValueError):
    """There is no such part; the message names those that there are."""


def check_parts(what: str) -> tuple[str, ...]:
    """The parts that are named, each once. Raises UnknownPartError for one that cannot be expanded.

    A comma in a question or a pattern belongs to it, as long as what follows is no part.
    """
    wanted: list[str] = []
    for one in what.split(","):
        words = one.split()
        part = "_".join(words).replace("-", "_")
        if words[:1] and words[0] in ASKED and words[1:]:
            wanted.append(" ".join(words))
        elif part in EXPANDABLE:
            wanted.append(part)
        elif wanted and wanted[-1].startswith(_WITH_COMMAS) and words:
            wanted[-1] += f", {' '.join(words)}"
        else:
            raise UnknownPartError(
                f"{one.strip()!r} cannot be expanded; there are {', '.join(EXPANDABLE)}; "
                "'ask QUESTION', 'find WORDS', 'lines REGEX in PATH' and 'open PATH:LINE' (or a name)"
            )
    return tuple(dict.fromkeys(_together(wanted)))


_RANGE = re.compile(r"open (?P<path>\S+):(?P<range>\d+-\d+)")


def _together(wanted: Iterable[str]) -> Iterator[str]:
    """Ranges of one file, where the first of them is asked, so that what stands above them is said once."""
    every = list(wanted)
    ranges: dict[str, list[str]] = {}
    for found in filter(None, map(_RANGE.fullmatch, every)):
        ranges.setdefault(found["path"], []).append(found["range"])
    for one in every:
        match = _RANGE.fullmatch(one)
        if match is None:
            yield one
        elif said := ranges.pop(match["path"], []):
            yield f"open {match['path']}:{'+'.join(said)}"


@dataclass(frozen=True)
class Expansion:
    """`text` is what a reader sees, at most `limit` tokens; `more` says how much did not fit.

    `items` are plain JSON records of what the text shows: places with their function and values, keys of the
    configuration, or stages of the batch.
    """

    of: str
    entry: str
    status: Status
    why: str
    limit: int
    items: tuple[Mapping[str, Any], ...]
    more: int
    text: str
    skipped: Mapping[str, str] = field(default_factory=dict)

    @property
    def used(self) -> int:
        return tokens(self.text)

    def to_dict(self) -> dict[str, Any]:
        """The contract of `map --expand X --format json`: plain JSON types only."""
        return {
            "expand": self.of,
            "entry": self.entry,
            "status": self.status,
            "why": self.why,
            "budget": {"limit": self.limit, "used": self.used},
            "items": [dict(item) for item in self.items],
            "more": self.more,
            "skipped": dict(self.skipped),
            "text": self.text,
        }
