"""An answer: what one call found, as text that fits where it is read, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainsleuth.wording import strict

NOTHING_WRONG, FOUND, FAILED = 0, 1, 2  # exit codes
CHARACTERS_PER_TOKEN = 4
_ITEM_LIMIT = 4_000  # characters of one item in a bounded text
_LEFT_FOR_REST = 120  # characters kept back for the line that says how many are shown


@dataclass(frozen=True)
class Section:
    """Items of one kind, best first. `narrow` says how to ask for fewer.

    Without a title the items stand apart, an empty line between them.
    """

    title: str
    items: tuple[str, ...]
    narrow: str = ""


@dataclass(frozen=True)
class Answer:
    """`head` and `tail` are always shown; of the sections, as much as there is room for. `code` is the exit code."""

    head: str
    sections: tuple[Section, ...]
    plain: Mapping[str, Any]
    tail: str = ""
    code: int = NOTHING_WRONG

    def text(self, tokens: int | None = None) -> str:
        """The whole answer, or as much of it, best first, as fits into `tokens`; what is missing is counted."""
        if tokens is None:
            parts = [self.head, *(_whole(section) for section in self.sections if section.items), self.tail]
            return "\n\n".join(part for part in parts if part)
        limit = tokens * CHARACTERS_PER_TOKEN
        tail = _cut(self.tail, limit // 4)
        head = _cut(self.head, limit // 4 if self.sections else limit - len(tail) - 2)
        parts = [head, *_fitting(self.sections, limit - len(head) - len(tail) - 4), tail]
        return "\n\n".join(part for part in parts if part)

    def json(self) -> str:
        """Strict JSON in ASCII, so that it survives every terminal and every pipe."""
        return json.dumps(strict(self.plain), indent=2, allow_nan=False)


def _whole(section: Section) -> str:
    return _under(section.title, section.items)


def _under(title: str, items: Iterable[str]) -> str:
    return "\n".join([title, *items]) if title else "\n\n".join(items)


def _fitting(sections: tuple[Section, ...], room: int) -> Iterator[str]:
    for section in sections:
        if not section.items:
            continue
        room -= len(section.title) + 3
        taken: list[str] = []
        for item in section.items:
            item = _cut(item, _ITEM_LIMIT)
            if len(item) + 2 > room - _LEFT_FOR_REST:
                break
            taken.append(item)
            room -= len(item) + 2
        if missing := len(section.items) - len(taken):
            rest = f"  showing {len(taken)} of {len(section.items)}"
            taken.append(rest + (f"; narrow with {section.narrow}" if section.narrow else ""))
            room -= _LEFT_FOR_REST if missing else 0
        yield _under(section.title, taken)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: max(limit - 6, 0)]} [cut]"
