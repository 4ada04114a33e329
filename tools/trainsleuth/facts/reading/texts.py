"""The sources of all files as one text: a word is looked for once, not once for each of a thousand files."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate

from ..records import FileFacts
from .searched import words_of


class Texts:
    def __init__(self, files: Iterable[FileFacts]) -> None:
        self._files = tuple(files)
        sources = [file.body.source.whole for file in self._files]
        self._all = b"\n".join(sources)
        self._starts = list(accumulate((len(source) + 1 for source in sources), initial=0))

    def holding(self, *patterns: re.Pattern[bytes]) -> Iterator[FileFacts]:
        """Files in whose text one of `patterns` is found, in their order."""
        words = {word for pattern in patterns for word in words_of(pattern)}
        places = range(len(self._files)) if b"" in words else sorted({at for word in words for at in self._with(word)})
        for file in (self._files[place] for place in places):
            if any(map(file.body.source.holds, patterns)):
                yield file

    def _with(self, word: bytes) -> Iterator[int]:
        """Places of the files that hold a word."""
        found = self._all.find(word)
        while found >= 0:
            place = bisect_right(self._starts, found) - 1
            yield place
            found = self._all.find(word, self._starts[place + 1])
