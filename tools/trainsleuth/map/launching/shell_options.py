"""Options that a shell script reads from its own arguments: while ... case "$1" in -l | --lr) lr="$2"; shift 2 ;; esac.

Also those that getopts names by a letter, and --lr=*) lr="${1#*=}".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_CASE = re.compile(r"^\s*case\s+\"?\$\{?(\w+)\}?\"?\s+in\b(.*)$")
_ESAC = re.compile(r"^\s*esac\b")
_HEAD = re.compile(r"^\s*\(?\s*([\w?*=\"':|\s.-]+?)\s*\)\s*(.*)$")
_GETOPTS = re.compile(r"\bgetopts\s+\S+\s+(\w+)")
_FIRST = re.compile(r"^\s*(?:local\s+)?(\w+)=\"?\$\{?1\}?\"?\s*(?:;.*)?$")
_OVER_ALL = re.compile(r"\bfor\s+(\w+)\s+in\s+\"?\$[@*]\"?|\bfor\s+(\w+)\s*(?:;|$)")
_SETS = re.compile(r"^\s*(?:export\s+|local\s+)?([A-Za-z_]\w*)=(.*)$")
_NEXT = re.compile(r"\$\{?(?:2|OPTARG)\b\}?")
_AFTER_SIGN = re.compile(r"\$\{\w+#+[^}]*=\}")  # ${1#*=}
_ITSELF = re.compile(r"\$\{?1\}?")
MAX_ARMS = 300


class Arm(NamedTuple):
    """Lines count from 1. `takes` says that the option has a value behind it."""

    names: tuple[str, ...]
    line: int
    sets: tuple[tuple[str, str], ...]
    takes: bool


class Reading(NamedTuple):
    """What a script reads from line `first` to `last` of its arguments."""

    first: int
    last: int
    arms: tuple[Arm, ...]


def readings(lines: Sequence[str]) -> Iterator[Reading]:
    """Each case over the arguments of the script that asks for options: one over plain words chooses a stage."""
    asked = {"1"}
    number = 0
    while number < len(lines):
        number += 1
        line = lines[number - 1]
        for pattern in (_GETOPTS, _FIRST, _OVER_ALL):
            asked.update(filter(None, found.groups()) if (found := pattern.search(line)) else ())
        match = _CASE.match(line)
        if match is not None and match[1] in asked:
            last = next((at for at in range(number, len(lines)) if _ESAC.match(lines[at])), len(lines) - 1) + 1
            arms = tuple(_arms(lines, number, last))[:MAX_ARMS]
            if _GETOPTS.search("\n".join(lines[:number])) or any(
                _is_option(name) for arm in arms for name in arm.names
            ):
                yield Reading(number, last, arms)
            number = last


def _is_option(name: str) -> bool:
    return name.startswith("-") or "=" in name


def _arms(lines: Sequence[str], first: int, last: int) -> Iterator[Arm]:
    head: tuple[tuple[str, ...], int] | None = None
    inside: list[str] = []
    for number in range(first + 1, last):
        text = lines[number - 1]
        if head is None and (match := _HEAD.match(text)) is not None:
            head = tuple(one.strip().strip("\"'") for one in match[1].split("|")), number
            text = match[2]
        if head is not None:
            body, ends, _ = text.partition(";;")
            inside += body.split(";")
            if ends or number == last - 1:
                sets = tuple((one[1], one[2].strip().strip("\"'")) for one in map(_SETS.match, inside) if one)
                takes = any(_NEXT.search(one) for one in inside) and not any("=*" in one for one in head[0])
                yield Arm(*head, sets, takes)
                head, inside = None, []


def values_read(reading: Reading, arguments: Sequence[str]) -> Iterator[tuple[str, str, int]]:
    """(name, value, line of the arm) of what the arguments set."""
    left = [one.strip("\"'") for one in arguments]
    while left:
        word = left.pop(0)
        arm = next((one for one in reading.arms if any(_fits(word, name) for name in one.names)), None)
        if arm is None:
            continue
        behind = left.pop(0) if arm.takes and left else ""
        for name, value in arm.sets:
            yield name, _put_in(value, word, behind), arm.line


def _put_in(value: str, word: str, behind: str) -> str:
    """What an arm assigns, with the option and what stands behind it: ${1#*=} is what stands behind its sign."""
    for pattern, given in ((_AFTER_SIGN, word.partition("=")[2]), (_NEXT, behind), (_ITSELF, word)):
        value = given.join(pattern.split(value))
    return value


def _fits(word: str, name: str) -> bool:
    """--lr=0.1 is --lr=*, and -d the d of getopts."""
    if name.endswith("=*"):
        return word.startswith(name[:-1])
    return word == name or (len(name) == 1 and name.isalpha() and word == f"-{name}")
