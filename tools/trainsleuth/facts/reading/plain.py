"""A source that defines nothing and imports nothing, such as settings in Python: parsed when its body is asked for.

A repository may hold a thousand of these, and a program reads a few. What is known without parsing is what the text says.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from ..records import MODULE_BODY, Body, FileFacts, Function
from .expressions import known_words
from .searched import Searched
from .source import called_in, read_source

_BLANK = b" \t\n\x0c"  # before the first statement; the rest of the lines is code, as the grammar counts
_MORE = ("import", *(word + end for word in ("def", "class") for end in (" ", "\t", "\\")))
Problems = tuple[tuple[int, str], ...]


@dataclass(frozen=True, eq=False)
class _Unparsed:
    """The body of such a file; `tell` gets the places that the parser could not read, once it was asked."""

    path: str
    text: str
    whole: bytes
    start: int
    tell: Callable[[Problems], None]

    @property
    def end(self) -> int:
        return len(self.whole)

    @cached_property
    def _searched(self) -> Searched:
        return Searched(self.whole)

    def holds(self, pattern: re.Pattern[bytes]) -> bool:
        return self._searched.within(pattern, self.start, self.end)

    def found(self, pattern: re.Pattern[bytes]) -> list[bytes]:
        return pattern.findall(self.whole, self.start)

    def before(self, pattern: re.Pattern[bytes]) -> set[bytes]:
        return self._searched.before(pattern, self.start, self.end)

    def read(self) -> Body:
        facts = read_source(self.path, self.text)
        self.tell(facts.problems)
        return facts.body.source.read()


def is_plain(text: str) -> bool:
    """It surely defines and imports nothing."""
    return not any(word in text for word in _MORE)


def read_plain(path: str, text: str, cells: tuple[tuple[int, int], ...], tell: Callable[[Problems], None]) -> FileFacts:
    """Facts of such a file, whose only body is its own. `problems` stays empty: `tell` gets them."""
    source = text.encode("utf-8", "replace")
    start = len(source) - len(source.lstrip(_BLANK))
    called = called_in(known_words(), source, start, len(source))
    body = Function(
        MODULE_BODY, MODULE_BODY, path, source.count(b"\n", 0, start) + 1, source.count(b"\n") + 1, (), (),
        _Unparsed(path, text, source, start, tell), called,
    )  # fmt: skip
    return FileFacts(path, (), {}, {MODULE_BODY: body}, body.end_line, (), cells, called, stored_bodies=0)
