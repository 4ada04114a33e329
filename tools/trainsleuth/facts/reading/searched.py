"""Which patterns a file has anywhere: asked once for the file, not once for each of its functions."""

from __future__ import annotations

import re
from functools import cache

LONGEST = 64  # bytes of a word
SHORTEST = 2  # shorter ones stand in every file
_ESCAPES_AND_SETS = re.compile(rb"\\(.)|\[\^?\]?(?:\\.|[^\]])*\]|\{[\d,]*\}", re.S)
_SETS = re.compile(rb"\\[^AZ]|\[\^?\]?(?:\\.|[^\]])*\]", re.S)
_ENDS = re.compile(rb"\\[AZ]|[\^$]|\(\?<!")
_PIECES = re.compile(rb"\\.|\[\^?\]?(?:\\.|[^\]])*\]|.", re.S)
_REFERS = re.compile(rb"\\[1-9]|\(\?(?:P=|\()")  # to a group by its number or name
_FEW_WORDS = re.compile(rb"\(\?:(\w+(?:\|\w+){1,2})\)(?![*+?{])")
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
        for one in alternatives(pattern):
            if word_of(one) in source and one.search(source) is not None:
                found = True
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
        if self[pattern]:
            for one in alternatives(pattern):
                if self.source.find(word_of(one), start, end) >= 0 and one.search(self.source, start, end) is not None:
                    return True
        return False


@cache
def alternatives(pattern: re.Pattern[bytes]) -> tuple[re.Pattern[bytes], ...]:
    """The same as several patterns, where it says so: each begins with letters, and is found much faster than all at once."""
    if pattern.flags & (re.IGNORECASE | re.VERBOSE) or _REFERS.search(pattern.pattern):
        return (pattern,)
    written = [one for part in _split(pattern.pattern) for one in _opened(part)]
    return tuple(re.compile(one, pattern.flags) for one in written) if len(written) > 1 else (pattern,)


def _split(text: bytes) -> list[bytes]:
    """At each | that is in no group."""
    parts, depth = [b""], 0
    for piece in _PIECES.findall(text):
        depth += (piece == b"(") - (piece == b")")
        if piece == b"|" and not depth:
            parts.append(b"")
        else:
            parts[-1] += piece
    return parts


def _opened(text: bytes) -> list[bytes]:
    """One for each word of the first group that is nothing but a few words, and in no other: \\b(?:randperm|shuffle)\\b."""
    group = _FEW_WORDS.search(text)
    if group is None or len(_longest(text)) >= SHORTEST or _depth(text[: group.start()]):
        return [text]
    return [text[: group.start()] + word + text[group.end() :] for word in group[1].split(b"|")]


def _depth(text: bytes) -> int:
    """How many groups are open at its end: what is in one may be repeated with it."""
    pieces = _PIECES.findall(text)
    return pieces.count(b"(") - pieces.count(b")")


@cache
def word_of(pattern: re.Pattern[bytes]) -> bytes:
    """Every match of one of the `alternatives` holds this text, as far as it shows, which is found several times as fast."""
    is_hidden = pattern.flags & (re.IGNORECASE | re.VERBOSE) or not pattern.pattern.isascii()
    word = _longest(pattern.pattern) if not is_hidden else b""
    return word if len(word) >= SHORTEST else b""


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


def _longest(pattern: bytes) -> bytes:
    """Of the words that are written out in no group, without a last letter that may be missing; "" of alternatives."""
    outside, inside = _ESCAPES_AND_SETS.sub(_plain, pattern), 1
    while inside:
        outside, inside = _GROUP.subn(b".", outside)
    found = (word[:-1] if end else word for word, end in _WORD.findall(outside) if b"|" not in outside)
    return max(found, key=len, default=b"").translate(_WRITTEN_OUT)
