"""Which patterns a file has anywhere: asked once for the file, not once for each of its functions."""

from __future__ import annotations

import re
from functools import cache

LONGEST = 64  # bytes of a word
_ESCAPES_AND_SETS = re.compile(rb"\\.|\[\^?\]?(?:\\.|[^\]])*\]")
_GROUP = re.compile(rb"\([^()]*\)")
_WORD = re.compile(rb"([A-Za-z_]+)([?*{]?)")
_WORDS = bytes(code if chr(code).isalnum() or code in b"_" or code > 127 else 32 for code in range(256))


class Searched(dict[re.Pattern[bytes], bool]):
    def __init__(self, source: bytes) -> None:
        self.source = source

    def __missing__(self, pattern: re.Pattern[bytes]) -> bool:
        source, found = self.source, False
        for word in words_of(pattern):
            if word in source:
                found = pattern.search(source) is not None
                break
        self[pattern] = found
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


@cache
def words_of(pattern: re.Pattern[bytes]) -> tuple[bytes, ...]:
    """Every match holds one of these words, as far as the pattern shows; they are found several times as fast as it."""
    if pattern.flags & (re.IGNORECASE | re.VERBOSE):
        return (b"",)
    outside, inside = _ESCAPES_AND_SETS.sub(b" ", pattern.pattern), 1
    while inside:
        outside, inside = _GROUP.subn(b" ", outside)
    return tuple(_longest_word(each) for each in outside.split(b"|"))


def _longest_word(text: bytes) -> bytes:
    """Of the literal ones, without a last letter that may be missing."""
    return max((word[:-1] if end else word for word, end in _WORD.findall(text)), key=len, default=b"")
