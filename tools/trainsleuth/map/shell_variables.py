"""Variables of a shell script: what its lines assign, put in where a command uses them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

_VARIABLE = re.compile(r"\"?\$\{(\w+)\[[@*]\]\}\"?|\$\{(\w+):?-([^{}]*)\}|\$\{?(\w+)\}?")
_ARGUMENTS = re.compile(r"\"?\$(?:[@*]|\{[@*](?::(\d{1,4}))?\})\"?")
_ASSIGNED = re.compile(r"^\s*(?:(?:export|local|readonly|declare)\s+(?:-\w+\s+)?)?([A-Za-z_]\w*)\+?=(.*)$")
_DEFAULTED = re.compile(r"^\s*:\s+\"?\$\{([A-Za-z_]\w*):?=(.*)\}\"?\s*(?:[;#].*)?$")  # : "${NODES:=1}"
_OWN_FOLDER = re.compile(  # $( cd "$( dirname "${BASH_SOURCE[0]}" )" && pwd ) and $(dirname "$0")
    r"\$\(\s*cd\s[^;&|]{0,80}?(?:BASH_SOURCE|\$0|\$\{0)[^;&|]{0,80}?&&\s*pwd(?:\s+-P)?\s*\)|"
    r"\$\(\s*dirname\s+(?:--\s+)?\"?\$(?:0|\{0\}|\{?BASH_SOURCE(?:\[0\])?\}?)\"?\s*\)"
)
_WORD = re.compile(r"\"((?:\$\([^()]*\)|[^\"$]|\$(?!\())*)\"|'([^']*)'|((?:\$\((?:[^()]|\([^()]*\))*\)|[^\s#;])+)")
_NOT_GIVEN = re.compile(r"\$\{?\d{1,2}\}?")  # else NAME=$1, below NAME=a
_SHIFT = re.compile(r"shift(?:[ \t]+(\d{1,3}))?[ \t]*(?:[;#].*)?$")  # not inside of a loop that reads options
MAX_LINES = 200  # of one value
MAX_VALUE = 4000  # characters: A="$A$A" doubles with every line


class Assigned(NamedTuple):
    """A value may go over lines, in quotes or as an array: args="--lr 1e-5 \\ ..." and ARGS=(--lr 1e-5 ...)."""

    name: str
    value: str
    first: int
    last: int


def assignments(lines: Sequence[str]) -> Iterator[Assigned]:
    """All that the lines of a script assign, by their numbers from 1."""
    number = 0
    while number < len(lines):
        number += 1
        if (unset := _DEFAULTED.match(lines[number - 1])) is not None:
            yield Assigned(unset[1], unset[2].strip("\"'"), number, number)
            continue
        match = _ASSIGNED.match(lines[number - 1])
        if match is None:
            continue
        first, name, text = number, match[1], _OWN_FOLDER.sub(".", match[2])
        is_open = _opens(text)
        if is_open is None:
            word = _WORD.match(text)
            if word is not None:
                yield Assigned(name, word[1] or word[2] or word[3] or "", first, first)
            continue
        held = [text[1:]]
        while number < len(lines) and number - first < MAX_LINES:
            number += 1
            line = lines[number - 1].strip()
            if is_open == "(" and line.startswith("#"):
                continue
            ends = line.endswith(")") if is_open == "(" else line.count(is_open) % 2
            held.append(line.rstrip("\\").rstrip()[: -1 if ends else None])
            if ends:
                yield Assigned(name, " ".join(held).strip(), first, number)
                break


def _opens(text: str) -> str | None:
    """The quote or bracket by which a value begins that does not end in its line."""
    if text.startswith("(") and not text.rstrip().endswith(")") and not text.startswith("(("):
        return "("
    is_quoted = text[:1] in ("'", '"')
    closed = _WORD.match(text) if is_quoted and text.count(text[0]) % 2 else None
    return text[0] if closed is not None and closed[3] is not None else None


def script_lines(text: str, path: str) -> list[str]:
    """The lines of the script at `path`, with its own name where they ask for it: $(basename $(dirname $0))."""

    def named(match: re.Match[str]) -> str:
        pure = PurePosixPath(path)
        name = pure.parent.name if match["folder"] else pure.name
        return name.removesuffix(match["ending"] or "") or match[0]

    return _OWN_NAME.sub(named, text).split("\n") if "basename" in text else text.split("\n")


_ITSELF = r"\"?\$(?:0|\{0\}|\{?BASH_SOURCE(?:\[0\])?\}?)\"?"
_OWN_NAME = re.compile(
    rf"\$\(\s*basename\s+(?:--\s+)?(?:(?P<folder>\"?\$\(\s*dirname\s+(?:--\s+)?{_ITSELF}\s*\)\"?)|{_ITSELF})"
    r"(?:\s+\"?(?P<ending>\.\w+)\"?)?\s*\)"
)


class Script:
    """What a script has assigned by one of its lines, with the variables in it put in, and its own arguments."""

    def __init__(self, lines: Sequence[str], arguments: Sequence[str] = ()) -> None:
        shifts = (
            Assigned("", match[1] or "1", at, at) for at, one in enumerate(lines, 1) if (match := _SHIFT.match(one))
        )
        self._rest = sorted([*assignments(lines), *shifts], key=lambda one: -one.first)
        self._known = {str(number): one for number, one in enumerate(arguments, 1)}

    def before(self, line: int) -> Mapping[str, str]:
        """What is assigned above `line`; later calls ask for later lines."""
        while self._rest and self._rest[-1].first < line:
            one = self._rest.pop()
            if not one.name:
                self._shift(int(one.value))
                continue
            value = _without_calls(filled(one.value[:MAX_VALUE], self._known)[:MAX_VALUE])
            if one.name not in self._known or not _NOT_GIVEN.fullmatch(value):
                self._known[one.name] = value
        return self._known

    def _shift(self, count: int) -> None:
        """The first arguments are gone, those behind them have their numbers."""
        left = [self._known.pop(name) for name in sorted(filter(str.isdigit, self._known), key=int)]
        self._known.update({str(number): one for number, one in enumerate(left[count:], 1)})


def _without_calls(value: str) -> str:
    """The folder above what is known, ".." of $(dirname .), and $(date) of $(date +%Y): a value without blanks of its own."""
    for _ in range(MAX_CALLS):
        value = _CALL.sub(_called, value)
    return value


def _called(match: re.Match[str]) -> str:
    name, path = match[1], match[2].strip().strip("\"'")
    if name == "date" or "$" in path or not path:
        return f"$({name})"
    return posixpath.join(path, "..") if path.endswith(".") else posixpath.dirname(path) or "."


_CALL = re.compile(r"\$\((dirname|date)\s([^()]*)\)")
MAX_CALLS = 4  # in each other


def known_before(lines: Sequence[str], line: int, arguments: Sequence[str] = ()) -> Mapping[str, str]:
    """The same of a script that is asked about one line only."""
    return Script(lines, arguments).before(line)


def used_in(text: str) -> frozenset[str]:
    """The variables that a text uses."""
    return frozenset(match[1] or match[2] or match[4] for match in _VARIABLE.finditer(text))


def filled(text: str, known: Mapping[str, str]) -> str:
    """`text` with the variables that are known, or their own defaults (${NODES:-1}), and with "$@" and ${@:3} when the
    arguments are known; one that is to be filled in by hand (MODEL="") stays."""

    def value(match: re.Match[str]) -> str:
        default = (match[3] or "").strip("\"'")
        return known.get(match[1] or match[2] or match[4]) or default or match[0]

    def behind(match: re.Match[str]) -> str:
        first = int(match[1] or 1)
        return " ".join(known[name] for name in sorted(filter(str.isdigit, known), key=int) if int(name) >= first)

    return _VARIABLE.sub(value, _ARGUMENTS.sub(behind, text) if "1" in known else text)
