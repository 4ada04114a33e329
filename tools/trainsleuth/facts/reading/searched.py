"""Which patterns a file has anywhere: asked once for the file, not once for each of its functions."""

from __future__ import annotations

import re
from functools import cache

LONGEST = 64  # bytes of a word
SHORTEST = 2  # shorter ones stand in every file
_ESCAPES_AND_SETS = re.compile(rb"\\(.)|\[\^?\]?(?:\\.|[^\]])*\]|\{[\d,]*\}", re.S)
_SETS = re.compile(rb"\\[^AZ]|\[\^?\]?(?:\\.|[^\]])*\]", re.S)
_ENDS = re.compile(rb"\\[AZ]|[\^$]|\(\?<!")
_GROUP = re.compile(rb"\([^()]*\)")
_WORD = re.compile(rb"([^.^$*+?|()]+)([?*]?)")
_ESCAPED = 128  # added to what was escaped, so that it is not taken for a sign
_WRITTEN_OUT = bytes(code % _ESCAPED for code in range(256))
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
    """Every match holds one of these texts, as far as the pattern shows; they are found several times as fast as it."""
    if pattern.flags & (re.IGNORECASE | re.VERBOSE) or not pattern.pattern.isascii():
        return (b"",)
    outside, inside = _ESCAPES_AND_SETS.sub(_plain, pattern.pattern), 1
    while inside:
        outside, inside = _GROUP.subn(b".", outside)
    words = tuple(_longest_word(each) for each in outside.split(b"|"))
    return words if all(len(word) >= SHORTEST for word in words) else (b"",)


@cache
def is_of_lines(pattern: re.Pattern[bytes]) -> bool:
    """What it finds in a text it finds, too, where that stands between other lines: it asks for no end but of lines."""
    asks = set(_ENDS.findall(_SETS.sub(b"", pattern.pattern)))
    return asks <= ({b"^", b"$"} if pattern.flags & re.MULTILINE else set())


def _plain(sign: re.Match[bytes]) -> bytes:
    """An escaped sign for itself; a class of bytes is anything, a count may be none."""
    escaped: bytes = sign[1] or b""
    if escaped and not escaped.isalnum():
        return bytes([escaped[0] + _ESCAPED])
    return b"*" if sign[0].startswith(b"{") else b"."


def _longest_word(text: bytes) -> bytes:
    """Of what is written out, without a last letter that may be missing."""
    found = (word[:-1] if end else word for word, end in _WORD.findall(text))
    return max(found, key=len, default=b"").translate(_WRITTEN_OUT)
