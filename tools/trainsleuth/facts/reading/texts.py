"""The sources of all files as one text: a word is looked for once, not once for each of a thousand files."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import accumulate

from ..records import FileFacts
from .searched import alternatives, is_of_lines, word_of


class Texts:
    def __init__(self, files: Iterable[FileFacts]) -> None:
        self._files = tuple(files)
        sources = [file.body.source.whole for file in self._files]
        self._all = b"\n".join(sources)
        self._starts = list(accumulate((len(source) + 1 for source in sources), initial=0))
        self._known: dict[bytes | re.Pattern[bytes], tuple[int, ...]] = {}

    def holding(self, *patterns: re.Pattern[bytes]) -> Iterator[tuple[FileFacts, list[re.Pattern[bytes]]]]:
        """Files in whose text some of `patterns` are found, in their order, and which these are."""
        asked: dict[int, dict[re.Pattern[bytes], None]] = {}
        for pattern in patterns:
            for sought in _sought(pattern):
                for place in self._places(sought):
                    asked.setdefault(place, {})[pattern] = None
        for place in sorted(asked):
            file = self._files[place]
            if found := [pattern for pattern in asked[place] if file.body.source.holds(pattern)]:
                yield file, found

    def _places(self, sought: bytes | re.Pattern[bytes]) -> tuple[int, ...]:
        if sought not in self._known:
            self._known[sought] = tuple(self._read(sought))
        return self._known[sought]

    def _read(self, sought: bytes | re.Pattern[bytes]) -> Iterator[int]:
        """Places of the files in which it begins, once each."""
        if not sought:
            yield from range(len(self._files))
            return
        find = partial(self._all.find, sought) if isinstance(sought, bytes) else partial(_begin, sought, self._all)
        found = find(0)
        while found >= 0:
            place = bisect_right(self._starts, found) - 1
            yield place
            found = find(self._starts[place + 1])


def _sought(pattern: re.Pattern[bytes]) -> tuple[bytes | re.Pattern[bytes], ...]:
    """What to look for in all texts at once: words; where there is none the pattern itself, or what every text holds."""
    each = alternatives(pattern)
    return tuple(word_of(one) or (one if is_of_lines(one) else b"") for one in each)


def _begin(pattern: re.Pattern[bytes], text: bytes, start: int) -> int:
    found = pattern.search(text, start)
    return found.start() if found is not None else -1
