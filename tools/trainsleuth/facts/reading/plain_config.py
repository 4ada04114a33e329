"""Settings that are neither YAML nor JSON: TOML, INI, HOCON, gin, "key = value" of configargparse, line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

MOST = 0.7  # of the lines of a file of settings are understood
MAX_LINE = 2000  # characters of one that is read
_SECTION = re.compile(r"\[\[?\s*([\w.\"' -]+?)\s*\]\]?$")
_OPENS = re.compile(r"[\"']?([\w.-]+)[\"']?\s*[=:]?\s*\{$")
_PAIR = re.compile(r"(?:--)?[\"']?([\w./-]+)[\"']?\s*(?:=|:(?=\s))\s*(.*?),?$")
_QUOTES = "\"'"


_BLOCK = re.compile(r"([A-Za-z_][\w./]*\.?\w+):$")  # of gin: the lines below that stand further in
_IMPORT = re.compile(r"(?:from\s+[\w.]+\s+)?import\s")
_INCLUDE = re.compile(r"include\s+[\"'](.+)[\"']$")


class _Line(NamedTuple):
    number: int
    text: str
    inside: bool  # it stands further in than the first column


def read_plain(text: str) -> dict[str, tuple[str, int]]:
    """Value and line by dotted key, later ones win; of a list each item, "skips.0". Nothing when most of it is something else."""
    every = (
        _Line(number, _without_comment(line[:MAX_LINE]), line[:1].isspace())
        for number, line in enumerate(text.split("\n"), 1)
    )
    lines = [line for line in every if line.text]
    table: dict[str, tuple[str, int]] = {}
    understood = 0
    for read, pairs in _walk(iter(lines)):
        understood += read
        table.update(pairs)
    return table if understood >= MOST * len(lines) else {}


def _without_comment(line: str) -> str:
    """A comment begins the line, or stands behind a blank and outside of quotes."""
    quote = ""
    for place, sign in enumerate(line):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in _QUOTES:
            quote = sign
        elif (sign in "#;" or line.startswith("//", place)) and not line[:place][-1:].strip():
            return line[:place].strip()
    return line.strip()


def _walk(lines: Iterator[_Line]) -> Iterator[tuple[int, dict[str, tuple[str, int]]]]:
    """How many lines each statement takes, and what it sets."""
    section = block = ""
    open_: list[str] = []
    for number, text, inside in lines:
        block = block if inside else ""
        if not inside and (match := _BLOCK.match(text)) is not None:
            block = match[1]
            yield 1, {}
        elif not inside and (match := _INCLUDE.match(text)) is not None:
            yield 1, {f"include.{number}": (match[1], number)}
        elif not inside and _IMPORT.match(text) is not None:
            yield 1, {}
        elif (match := _SECTION.match(text)) is not None:
            section = match[1].replace('"', "").replace("'", "")
            yield 1, {}
        elif (match := _OPENS.match(text)) is not None:
            open_.append(match[1])
            yield 1, {}
        elif text.strip(",") in ("}", "]"):
            del open_[-1:]
            yield 1, {}
        elif (match := _PAIR.match(text)) is not None:
            more = [line.text for line in _rest(lines, match[2])]
            key = ".".join(filter(None, (section, block, *open_, match[1])))
            yield 1 + len(more), dict(_values(key, " ".join((match[2], *more)), number))
        else:
            yield 0, {}


def _rest(lines: Iterator[_Line], begun: str) -> Iterator[_Line]:
    """The lines that a list goes on over."""
    depth = begun.count("[") - begun.count("]")
    while depth > 0 and (line := next(lines, None)) is not None:
        depth += line.text.count("[") - line.text.count("]")
        yield line


def _values(key: str, written: str, number: int) -> Iterator[tuple[str, tuple[str, int]]]:
    inside = written[1:-1].strip() if written[:1] + written[-1:] in ("[]", "{}") else None
    if inside is None or any(one in inside for one in "[]{}"):
        yield key, (_unquoted(written), number)
        return
    for place, item in enumerate(part.strip() for part in inside.split(",") if part.strip()):
        pair = _PAIR.match(item) if written[0] == "{" else None
        yield f"{key}.{pair[1] if pair else place}", (_unquoted(pair[2] if pair else item), number)


def _unquoted(written: str) -> str:
    return written[1:-1] if len(written) > 1 and written[0] in _QUOTES and written[-1] == written[0] else written
