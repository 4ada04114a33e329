"""The command that starts a program, fit to be pasted: text of a README never reaches a shell of the user as it is."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable

STARTERS = ("python", "python3", "torchrun", "accelerate", "deepspeed")
UNKNOWN = "COMMAND"
_ENDS = frozenset({";", "|", "||", "&", "&&"})
_OPEN = re.compile(r"[$`{}()<>*?~…\n]|\.\.\.|^\[|\]$")  # a shell would fill it in, or the reader has to
_ASSIGNS = re.compile(r"[A-Za-z_]\w*=\S*")
_VALUED = frozenset({"-m", "-W", "-X"})


def started_by(written: Iterable[str], entry: str, files: Collection[str]) -> str:
    """The first of the commands that is whole and starts a file that is there, quoted anew; else python and the entry;
    UNKNOWN where the entry is no program that Python can start.
    """
    for text in written:
        words = plain_words(text)
        if words and words[0] in STARTERS and _starts(words, files):
            return shlex.join(words)
    return f"python {shlex.quote(entry)}" if entry.endswith(".py") else UNKNOWN


def plain_words(text: str) -> list[str] | None:
    """The words of the first simple command; None where something in it is left to a shell or to the reader."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";|&")
    lexer.whitespace_split = True
    lexer.commenters = ""
    words: list[str] = []
    try:
        for word in lexer:
            if word in _ENDS:
                break
            words.append(word)
    except ValueError:  # a quote that is never closed
        return None
    while words and _ASSIGNS.fullmatch(words[0]):
        del words[0]
    return None if any(_OPEN.search(word) for word in words) else words


def _starts(words: list[str], files: Collection[str]) -> bool:
    """Of Python itself the program is a module, or a file that is there; of a launcher some word is such."""
    if not words[0].startswith("python"):
        return any(word.removeprefix("./") in files for word in words[1:]) or "-m" in words
    after = iter(words[1:])
    for word in after:
        if word == "-m":
            return next(after, None) is not None
        if word in _VALUED:
            next(after, None)
        elif not word.startswith("-"):
            return word.removeprefix("./") in files
    return False
