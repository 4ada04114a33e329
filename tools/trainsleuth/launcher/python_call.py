"""A Python command line, read as the interpreter itself would."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_PYTHON = re.compile(r"(python|pypy)[0-9.]*(w|t|d)?(\.exe)?")
_TAKES_VALUE = "WXcm"
_BLIND = frozenset("IES")  # -I and -E ignore PYTHONPATH, -S never imports sitecustomize


class CommandError(Exception):
    """The command is not one that can be started; the message says what to do."""


@dataclass(frozen=True)
class PythonCall:
    """`python FLAGS WHAT...`: `what` begins with a script, `-m` or `-c`, and is empty without a program."""

    python: str
    flags: tuple[str, ...]
    what: tuple[str, ...]

    @property
    def letters(self) -> str:
        """The single-letter flags, values left out."""
        return "".join(re.split("[WX]", flag[1:])[0] for flag in self.flags if re.match("-[a-zA-Z]", flag))

    @property
    def is_blind(self) -> bool:
        return bool(self.what) and not _BLIND.isdisjoint(self.letters)

    def through(self, runner: Path) -> list[str]:
        """The same call by way of `runner`, which knows how to let us in."""
        if "x" in self.letters:
            raise CommandError("python -x together with -I, -E or -S cannot be probed: leave -x away")
        return [self.python, *self.flags, str(runner), *self.what]


def is_python(program: str) -> bool:
    return _PYTHON.fullmatch(os.path.basename(program)) is not None


def parse_python(words: Sequence[str]) -> PythonCall:
    """Split a Python command line where the interpreter itself would."""
    flags: list[str] = []
    rest = list(words[1:])
    while rest and rest[0].startswith("-") and rest[0] != "-":
        flag = rest.pop(0)
        if flag.startswith("--"):
            flags.append(flag)
            if flag == "--check-hash-based-pycs" and rest:
                flags.append(rest.pop(0))
            continue
        place = next((i for i, letter in enumerate(flag) if i and letter in _TAKES_VALUE), None)
        if place is None:
            flags.append(flag)
        elif flag[place] in "WX":
            flags.append(flag)
            if place == len(flag) - 1 and rest:
                flags.append(rest.pop(0))
        else:  # -m and -c end the flags, also at the end of a cluster and with their value attached
            if place > 1:
                flags.append(flag[:place])
            value = [flag[place + 1 :]] if flag[place + 1 :] else rest[:1]
            arguments = rest if flag[place + 1 :] else rest[1:]
            return PythonCall(words[0], tuple(flags), (f"-{flag[place]}", *value, *arguments))
    return PythonCall(words[0], tuple(flags), () if rest[:1] == ["-"] else tuple(rest))
