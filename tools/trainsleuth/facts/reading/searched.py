"""Which patterns a file has anywhere: asked once for the file, not once for each of its functions."""

from __future__ import annotations

import re

LONGEST = 64  # bytes of a word
_WORDS = bytes(code if chr(code).isalnum() or code in b"_" or code > 127 else 32 for code in range(256))


class Searched(dict[re.Pattern[bytes], bool]):
    def __init__(self, source: bytes) -> None:
        self.source = source

    def __missing__(self, pattern: re.Pattern[bytes]) -> bool:
        found = self[pattern] = pattern.search(self.source) is not None
        return found

    def before(self, pattern: re.Pattern[bytes], start: int, end: int) -> set[bytes]:
        """The words, or the brackets, that the matches stand behind."""
        found = set()
        for match in pattern.finditer(self.source, start, end):
            text = self.source[max(start, match.start() - LONGEST) : match.start()].rstrip()
            found.add(text[-1:] if text[-1:] in b"})]" else text.translate(_WORDS).rpartition(b" ")[2])
        return found

    def within(self, pattern: re.Pattern[bytes], start: int, end: int) -> bool:
        return self[pattern] and pattern.search(self.source, start, end) is not None
