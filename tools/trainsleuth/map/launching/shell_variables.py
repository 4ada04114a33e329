"""Variables of a shell script: what its lines assign, put in where a command uses them."""

from __future__ import annotations

import operator
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import NamedTuple

from .command_words import options
from .shell_arms import Arm, arms_of, is_taken
from .shell_functions import with_arguments
from .shell_options import Reading, readings, values_read

_VARIABLE = re.compile(r"\"?\$\{(\w+)\[[@*]\]\}\"?|\$\{(\w+):?-([^{}]*)\}|\$\{?(\w+)\}?")
_ARGUMENTS = re.compile(r"\"?\$(?:[@*]|\{[@*](?::(\d{1,4}))?\})\"?")
_ASSIGNED = re.compile(r"^\s*(?:(?:export|local|readonly|declare)\s+(?:-\w+\s+)?)?([A-Za-z_]\w*)(\+?)=(.*)$")
_DEFAULTED = re.compile(r"^\s*:\s+\"?\$\{([A-Za-z_]\w*):?=(.*)\}\"?\s*(?:[;#].*)?$")  # : "${NODES:=1}"
_OWN_FOLDER = re.compile(  # $( cd "$( dirname "${BASH_SOURCE[0]}" )" && pwd ) and $(dirname "$0")
    r"\$\(\s*cd\s[^;&|]{0,80}?(?:BASH_SOURCE|\$0|\$\{0)[^;&|]{0,80}?(?:&&|;)\s*pwd(?:\s+-P)?\s*\)|"
    r"\$\(\s*dirname\s+(?:--\s+)?\"?\$(?:0|\{0\}|\{?BASH_SOURCE(?:\[0\])?\}?)\"?\s*\)"
)
_WORD = re.compile(
    r"\"((?:\$\([^()]*\)|[^\"$]|\$(?!\())*)\"|'([^']*)'|((?:\$\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\$\{#\w+(?:\[[@*]\])?\}|[^\s#;])+)"
)
_NOT_GIVEN = re.compile(r"\$\{?\d{1,2}\}?")  # else NAME=$1, below NAME=a
_SHIFT = re.compile(r"shift(?:[ \t]+(\d{1,3}))?[ \t]*(?:[;#].*)?$")  # not inside of a loop that reads options
MAX_LINES = 200  # of one value
MAX_VALUE = 8000  # characters: A="$A$A" doubles with every line


class Assigned(NamedTuple):
    """A value may go over lines, in quotes or as an array: args="--lr 1e-5 \\ ..." and ARGS=(--lr 1e-5 ...).

    `more`: it is added to what there was: OPTS+=" --lr 1e-5", with a blank between the items of an array.
    """

    name: str
    value: str
    first: int
    last: int
    more: bool = False


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
        first, name, more, text = number, match[1], bool(match[2]), _OWN_FOLDER.sub(".", match[3])
        is_open = _opens(text)
        if is_open is None:
            if (items := _ITEMS.match(text)) is not None:
                yield Assigned(name, f" {items[1]}" if more else items[1], first, first, more)
            elif not text.strip():
                yield Assigned(name, "", first, first, more)
            elif (word := _WORD.match(text)) is not None:
                yield Assigned(name, word[1] or word[2] or word[3] or "", first, first, more)
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
                value = " ".join(held)
                yield Assigned(name, f" {value.strip()}" if more else value.strip(), first, number, more)
                break


_ITEMS = re.compile(r"\((.*)\)\s*(?:#.*)?$")


def _opens(text: str) -> str | None:
    """The quote or bracket by which a value begins that does not end in its line."""
    if text.startswith("(") and not text.rstrip().endswith(")") and not text.startswith("(("):
        return "("
    is_quoted = text[:1] in ("'", '"')
    closed = _WORD.match(text) if is_quoted and text.count(text[0]) % 2 else None
    return text[0] if closed is not None and closed[3] is not None else None


def script_lines(text: str, path: str) -> list[str]:
    """The lines of the script at `path`, with its own name where they ask for it, $(basename $(dirname $0)), and with the
    arguments of its functions.
    """

    def named(match: re.Match[str]) -> str:
        pure = PurePosixPath(path)
        name = pure.parent.name if match["folder"] else pure.name
        return name.removesuffix(match["ending"] or "") or match[0]

    lines = _OWN_NAME.sub(named, text).split("\n") if "basename" in text else text.split("\n")
    return with_arguments(lines) if "()" in text or "function " in text else lines


_ITSELF = r"\"?\$(?:0|\{0\}|\{?BASH_SOURCE(?:\[0\])?\}?)\"?"
_OWN_NAME = re.compile(
    rf"\$\(\s*basename\s+(?:--\s+)?(?:(?P<folder>\"?\$\(\s*dirname\s+(?:--\s+)?{_ITSELF}\s*\)\"?)|{_ITSELF})"
    r"(?:\s+\"?(?P<ending>\.\w+)\"?)?\s*\)"
)


class Lines(list[str]):
    """The lines of a script. `sourced`: by the number of the line that sources another script, the lines of that."""

    sourced: Mapping[int, Sequence[str]] = MappingProxyType({})


def _with_sourced(lines: Sequence[str]) -> tuple[list[str], list[int]]:
    """The lines with those of scripts that they source put in, and the number that each of its own has among them."""
    sourced = lines.sourced if isinstance(lines, Lines) else {}
    flat: list[str] = []
    places: list[int] = []
    for number, line in enumerate(lines, 1):
        flat += sourced.get(number, ())
        flat.append(line)
        places.append(len(flat))
    return flat, places


class Script:
    """What a script has assigned by one of its lines, with the variables in it put in, and its own arguments.

    An arm of an if that is not taken, as far as its variables say, assigns nothing, nor does one beside that of the line.
    """

    def __init__(self, lines: Sequence[str], arguments: Sequence[str] = ()) -> None:
        lines, self._places = _with_sourced(lines)
        self._taken: dict[tuple[int, int], bool] = {}
        shifts = (
            Assigned("", match[1] or "1", at, at) for at, one in enumerate(lines, 1) if (match := _SHIFT.match(one))
        )
        read = list(readings(lines))
        inside = {at for one in read for at in range(one.first, one.last + 1)}
        self._arms = {at: arms for at, arms in arms_of(lines).items() if at not in inside}
        plain = (one for one in (*assignments(lines), *shifts) if one.first not in inside)
        options = [*_parsed(lines, arguments), *_read(read, arguments)]
        self._rest = sorted([*plain, *options], key=lambda one: -one.first)
        self._known = {str(number): one for number, one in enumerate(arguments, 1)}

    def before(self, line: int) -> Mapping[str, str]:
        """What is assigned above `line`; later calls ask for later lines."""
        return self._before(self._place(line))

    def _place(self, line: int) -> int:
        """Of a line of the script among those with what it sources."""
        return self._places[line - 1] if 0 < line <= len(self._places) else line

    def _before(self, line: int) -> Mapping[str, str]:
        here = {arm.block: arm.number for arm in self._arms.get(line, ())}
        inside: list[Assigned] = []  # of an if that is not over: what is said there counts further down only if taken
        while self._rest and self._rest[-1].first < line:
            one = self._rest.pop()
            arms = self._arms.get(one.first, ())
            if any(arm.block in here for arm in arms):
                inside.append(one)
            elif all(map(self._is_taken, arms)):
                _assign(one, self._known)
        self._rest += reversed(inside)
        known = dict(self._known) if inside else self._known
        for one in inside:
            arms = self._arms[one.first]
            if all(here[arm.block] == arm.number if arm.block in here else is_taken(arm, known) for arm in arms):
                _assign(one, known)
        return known

    def runs(self, line: int) -> bool:
        """No arm that it stands in is one that the variables are seen not to take."""
        known = self.before(line)
        return all(is_taken(arm, known) for arm in self._arms.get(self._place(line), ()))

    def _is_taken(self, arm: Arm) -> bool:
        """As the variables stand where its first line is met."""
        if arm[:2] not in self._taken:
            self._taken[arm[:2]] = is_taken(arm, self._known)
        return self._taken[arm[:2]]


def _parsed(lines: Sequence[str], arguments: Sequence[str]) -> Iterator[Assigned]:
    """The script's own options where it reads them as Kaldi's and ESPnet's do: . utils/parse_options.sh, behind --lr 0.1."""
    at = next((number for number, line in enumerate(lines, 1) if _PARSES.match(line)), 0)
    for name, value in options(arguments) if at else ():
        if name.startswith("--"):
            yield Assigned(name[2:].replace("-", "_"), value, at, at)


def _read(every: Iterable[Reading], arguments: Sequence[str]) -> Iterator[Assigned]:
    """The script's own options where it reads them itself, in the order of its lines."""
    for reading in every:
        for name, value, line in values_read(reading, arguments):
            yield Assigned(name, value, line, line)


_PARSES = re.compile(r"\s*(?:\.|source)\s+\S*parse_options\.sh\b")


def _assign(one: Assigned, known: dict[str, str]) -> None:
    if not one.name:
        _shift(int(one.value), known)
        return
    value = _worked_out(one.value[:MAX_VALUE], known)
    if one.more:
        known[one.name] = f"{known.get(one.name, '')}{value}"[:MAX_VALUE]
        return
    if one.name not in known or not _NOT_GIVEN.fullmatch(value):
        known[one.name] = value


def _shift(count: int, known: dict[str, str]) -> None:
    """The first arguments are gone, those behind them have their numbers."""
    left = [known.pop(name) for name in sorted(filter(str.isdigit, known), key=int)]
    known.update({str(number): one for number, one in enumerate(left[count:], 1)})


def _worked_out(value: str, known: Mapping[str, str]) -> str:
    """With what is known put in, lengths, sums and what echo says: $((${#DEVICES} / 2)), $(echo "runs/$NAME")."""
    value = _COUNT.sub(lambda match: str(len(known[match[1]].split())) if match[1] in known else match[0], value)
    value = _LENGTH.sub(lambda match: str(len(known[match[1]])) if match[1] in known else match[0], value)
    value = _without_calls(filled(value, known)[:MAX_VALUE])
    value = value[1:-1] if _QUOTED.fullmatch(value) else value
    return _SUM.sub(lambda match: _summed(match[1], known) or match[0], value)


_QUOTED = re.compile(r'"[^"]*"')
_COUNT = re.compile(r"\$\{#(\w+)\[[@*]\]\}")
_LENGTH = re.compile(r"\$\{#(\w+)\}")
_SUM = re.compile(r"\$\(\(((?:[\w\s$+*/%-]|\([\w\s$+*/%-]{1,60}\)){1,60})\)\)")


def _summed(text: str, known: Mapping[str, str]) -> str:
    """Whole numbers with operators between them, brackets first; "" for anything else."""
    return _chained(_BRACKET.sub(lambda match: _chained(match[1], known) or match[0], text), known)


_BRACKET = re.compile(r"\(([^()]*)\)")


def _chained(text: str, known: Mapping[str, str]) -> str:
    words = [known.get(word, word) for word in re.findall(r"\w+|[^\w\s]", text)]
    if len(words) % 2 == 0 or not all(map(str.isdecimal, words[::2])) or len(words) < 3:
        return ""
    for some in ("*/%", "+-"):
        at = 1
        while at < len(words):
            if words[at] not in some:
                at += 2
                continue
            left, right = int(words[at - 1][:MAX_DIGITS]), int(words[at + 1][:MAX_DIGITS])
            if not right and words[at] in "/%":
                return ""
            words[at - 1 : at + 2] = [str(_OPERATORS[words[at]](left, right))]
    return words[0] if len(words) == 1 else ""


_OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.floordiv, "%": operator.mod}
MAX_DIGITS = 15


def _without_calls(value: str) -> str:
    """The folder above what is known, ".." of $(dirname .), $(date) of $(date +%Y), and how many devices a list has: a value
    without blanks of its own.
    """
    value = _COUNTED.sub(lambda match: str(match[1].count(",") + 1) if "$" not in match[1] else "$(echo)", value)
    value = _PIPED.sub("$(echo)", value)
    for _ in range(MAX_CALLS):
        value = _ECHO.sub(lambda match: match[1].strip().replace('"', ""), _CALL.sub(_called, value))
    return value


def _called(match: re.Match[str]) -> str:
    name, path = match[1], match[2].strip().strip("\"'")
    if name == "date" or "$" in path or not path:
        return f"$({name})"
    return posixpath.join(path, "..") if path.endswith(".") else posixpath.dirname(path) or "."


_CALL = re.compile(r"\$\((dirname|date)\s([^()]*)\)")
_COUNTED = re.compile(  # $(echo 0,1,2 | awk -F ',' '{print NF}')
    r"\$\(echo\s+\"?([^()|;&\"]*)\"?\s*\|\s*(?:awk\s+-F\s*[\"']?,[\"']?\s+'\{\s*print\s+NF;?\s*\}'|tr\s+[\"']?,[\"']?\s+[\"'](?:\\n|\s)[\"']\s*\|\s*wc\s+-[lw])\s*\)"
)
_PIPED = re.compile(r"\$\(echo\s[^()]*\|[^()]*\)")
_ECHO = re.compile(r"\$\(echo\s+((?:[^()]|\$\([^()]*\))*)\)")
MAX_CALLS = 4  # in each other


def known_before(lines: Sequence[str], line: int, arguments: Sequence[str] = ()) -> Mapping[str, str]:
    """The same of a script that is asked about one line only."""
    return Script(lines, arguments).before(line)


def used_in(text: str) -> frozenset[str]:
    """The variables that a text uses."""
    return frozenset(match[1] or match[2] or match[4] for match in _VARIABLE.finditer(text))


def filled(text: str, known: Mapping[str, str]) -> str:
    """`text` with the variables that are known, or their own defaults (${NODES:-1}) and what stands for them
    (${NAME:+--name}), and with "$@" and ${@:3} when the arguments are known; one that is to be filled in by hand
    (MODEL="") stays.
    """

    def value(match: re.Match[str]) -> str:
        default = (match[3] or "").strip("\"'")
        return known.get(match[1] or match[2] or match[4]) or default or match[0]

    def behind(match: re.Match[str]) -> str:
        first = int(match[1] or 1)
        return " ".join(known[name] for name in sorted(filter(str.isdigit, known), key=int) if int(name) >= first)

    def alternative(match: re.Match[str]) -> str:
        return match[0] if match[1] not in known else match[2] if known[match[1]] else ""

    text = _ALTERNATIVE.sub(alternative, text) if "+" in text else text
    return _VARIABLE.sub(value, _ARGUMENTS.sub(behind, text) if "1" in known else text)


_ALTERNATIVE = re.compile(r"\$\{(\w+):?\+([^{}]*)\}")  # ${checkpoint:+--checkpoint $checkpoint}
