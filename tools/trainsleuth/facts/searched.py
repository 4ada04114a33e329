"""Which patterns a file has anywhere: asked once for the file, not once for each of its functions."""

from __future__ import annotations

import re


class Searched(dict[re.Pattern[bytes], bool]):
    def __init__(self, source: bytes) -> None:
        self.source = source

    def __missing__(self, pattern: re.Pattern[bytes]) -> bool:
        found = self[pattern] = pattern.search(self.source) is not None
        return found

    def within(self, pattern: re.Pattern[bytes], start: int, end: int) -> bool:
        return self[pattern] and pattern.search(self.source, start, end) is not None
