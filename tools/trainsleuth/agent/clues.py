"""What a log tells: the traceback, the last finite numbers and the first that is not, never hidden by the rest."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from trainsleuth.wording import BAR, path_text, visible

MOST_BYTES = 8 * 2**20  # read from each end of a longer file
HEAD_LINES, TAIL_LINES = 15, 30
TRACEBACK_LINES = 40
FINITE_LINES = 5  # before the first non-finite number
_NONFINITE = re.compile(r"(?<![\w.])[-+]?(nan|inf(inity)?)(?![\w.])", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(\.\d+)?([eE][-+]?\d+)?")


class LogError(Exception):
    """A log cannot be read; the message says which, and why."""


def log_text(path: Path) -> str:
    """A log, CSV or tracker history, by its telling lines, each with its number and behind a bar. Raises LogError."""
    lines = _lines(path)
    if not lines:
        return f"{path_text(str(path))} is empty"
    picked: dict[int, str] = {}
    for start, end in _ranges([text for _, text in lines]):
        picked.update(dict(lines[start:end]))
    rows, last = [], 0
    for number in sorted(picked):
        if number > last + 1:
            rows.append(f"      [{number - last - 1} lines left out]")
        rows.append(f"{number:>6} {BAR}{visible(picked[number][:300])}")
        last = number
    return "\n".join([f"{path_text(str(path))}, {lines[-1][0]} lines:", *rows])


def _ranges(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    count = len(texts)
    yield 0, min(HEAD_LINES, count)
    yield max(0, count - TAIL_LINES), count
    tracebacks = [place for place, text in enumerate(texts) if text.lstrip().startswith("Traceback (most recent")]
    for place in {*tracebacks[:1], *tracebacks[-1:]}:
        yield place, min(place + TRACEBACK_LINES, count)
    bad = next((place for place, text in enumerate(texts) if _NONFINITE.search(text)), None)
    if bad is not None:
        finite = [place for place in range(bad) if _NUMBER.search(texts[place])][-FINITE_LINES:]
        yield from ((place, place + 1) for place in finite)
        yield bad, min(bad + 2, count)


def _lines(path: Path) -> list[tuple[int, str]]:
    """(number, text) of every line; of a huge file, those near its two ends. A progress bar's redraws count as lines."""
    try:
        size = os.stat(path).st_size
        with open(path, "rb") as file:
            head = file.read(MOST_BYTES)
            skipped = max(0, size - 2 * MOST_BYTES)
            between = 0
            for _ in range(skipped // 2**20 + 1 if skipped else 0):
                between += file.read(min(2**20, skipped)).count(b"\n")
                skipped -= min(2**20, skipped)
            tail = file.read()
    except OSError as error:
        raise LogError(f"{path}: {error.strerror}; give a log file that can be read") from error
    first = _split(head)
    start = len(first) + between
    return [*enumerate(first, 1), *enumerate(_split(tail), start + 1)] if tail else list(enumerate(first, 1))


def _split(raw: bytes) -> list[str]:
    text = raw.decode("utf-8", "replace")
    return [line.rsplit("\r", 1)[-1] for line in text.replace("\r\n", "\n").rstrip("\n").split("\n")] if text else []
