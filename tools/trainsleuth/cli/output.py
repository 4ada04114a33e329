"""Where words go: answers to stdout, words about the work to stderr; colour and progress for terminals only."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from trainsleuth.answers import Answer
from trainsleuth.wording import one_line

MAX_WIDTH = 100  # columns; longer lines are hard to read


def prepare_streams() -> None:
    """A character that the terminal cannot show is escaped; no output may crash us."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def width() -> int | None:
    """Columns to fold to on a terminal, None elsewhere: other programs want whole lines."""
    return min(shutil.get_terminal_size().columns, MAX_WIDTH) if sys.stdout.isatty() else None


def show(answer: Answer, form: str) -> None:
    """Prints an answer as "text" or "json"."""
    if form == "json":
        print(answer.json())
    elif has_colour():
        from trainsleuth.cli.colour import print_coloured

        print_coloured(answer.text())
    else:
        print(answer.text())


def has_colour() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def say(words: str) -> None:
    """One line for the person at the terminal, or for the log of the program that called us."""
    print(f"trainsleuth: {words}", file=sys.stderr)


@contextmanager
def progress() -> Iterator[Callable[[str], None] | None]:
    """A place for words on progress: one moving line on a terminal, None elsewhere."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield None
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True)
    with console.status("starting") as status:
        yield lambda words: status.update(Text(one_line(words, console.width - 4)))
