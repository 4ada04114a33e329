"""Arms of an if or a case in a shell script: which lines stand in them, and whether the variables that are known let them run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

MAX_NESTED = 24
MAX_TESTS = 60  # of one if: what stands in later arms may run
_OPENS = re.compile(r"^\s*if\s+(.*?)\s*;?\s*(?:then\b.*)?$")
_TURNS = re.compile(r"^\s*(?:elif\s+(.*?)\s*;?\s*(?:then\b.*)?|else\b.*)$")
_CLOSES = re.compile(r"^\s*fi\b")
_AT_ONCE = re.compile(r"^\s*if\b.*[;\s]fi\s*;?$")
_EMPTY = re.compile(r"^\[\[?\s+(!\s+)?-([nz])\s+\"?\$\{?(\w+)\}?\"?\s+\]\]?$")
_SAME = re.compile(r"^\[\[?\s+\"?\$\{?(\w+)\}?\"?\s+(==?|!=|-eq|-ne)\s+[\"']?([\w./-]*)[\"']?\s+\]\]?$")


_CASE = re.compile(r"^\s*case\s+(\S+)\s+in\b(?!.*\besac\b)")
_PATTERN = re.compile(
    r"^\s*\(?\s*((?:\"[^\"]*\"|'[^']*'|[\w.*?+-]+)(?:\s*\|\s*(?:\"[^\"]*\"|'[^']*'|[\w.*?+-]+))*)\s*\)"
)
_ESAC = re.compile(r"^\s*esac\b")


class Arm(NamedTuple):
    """`block` is the line of its if or case; `tests` those of the arms before it, and its own, "" for an else."""

    block: int
    number: int
    tests: tuple[str, ...]


def arms_of(lines: Sequence[str]) -> Mapping[int, tuple[Arm, ...]]:
    """By line, from 1, the arms that it stands in, outer first; nothing of lines in none."""
    found: dict[int, tuple[Arm, ...]] = {}
    open_ones: list[Arm] = []
    words: dict[int, str] = {}  # by the line of a case, what it asks for
    for number, line in enumerate(lines, 1):
        asked = words.get(open_ones[-1].block) if open_ones else None
        if _AT_ONCE.match(line):
            pass
        elif (match := _CASE.match(line)) is not None:
            words[number] = match[1]
            open_ones.append(Arm(number, 0, ()))
            continue
        elif asked is not None and (match := _PATTERN.match(line)) is not None:
            last = open_ones.pop()
            tests = (*last.tests, _in_case(asked, match[1])) if len(last.tests) < MAX_TESTS else ("",)
            open_ones.append(Arm(last.block, last.number + 1, tests))
        elif asked is not None and _ESAC.match(line):
            open_ones.pop()
            continue
        elif (match := _OPENS.match(line)) is not None:
            open_ones.append(Arm(number, 0, (match[1],)))
            continue
        elif open_ones and asked is None and (match := _TURNS.match(line)) is not None:
            last = open_ones.pop()
            tests = (*last.tests, match[1] or "") if len(last.tests) < MAX_TESTS else ("",)
            open_ones.append(Arm(last.block, last.number + 1, tests))
            continue
        elif open_ones and asked is None and _CLOSES.match(line):
            open_ones.pop()
            continue
        if open_ones:
            found[number] = tuple(one for one in open_ones[:MAX_NESTED] if one.tests)
    return found


def _in_case(word: str, patterns: str) -> str:
    """The test of an arm of a case, written so that `_truth` knows it: "" for *)."""
    names = [one.strip().strip("\"'") for one in patterns.split("|")]
    asked, among = word.strip('"'), "|".join(names)
    return "" if "*" in names else f"case {asked} in {among}"


def is_taken(arm: Arm, known: Mapping[str, str]) -> bool:
    """False where the known variables say no; an argument that is not given is unknown, not empty."""
    truths = [_truth(test, known) for test in arm.tests]
    return truths[-1] is not False and True not in truths[:-1]


def _truth(test: str, known: Mapping[str, str]) -> bool | None:
    """Of several tests together: [ -z "$config" ] && [ -f last.pt ]."""
    for sign, decides in ((" || ", True), (" && ", False)):
        if sign in test:
            truths = [_truth(one.strip(), known) for one in test.split(sign)]
            return decides if decides in truths else None if None in truths else not decides
    return False if _PRODUCT.match(test) else _of_variable(test, known)


_PRODUCT = re.compile(
    r"^\[\[?\s+-[def]\s+\S*(?:checkpoint|ckpt|latest|\.pth?\b|exp_?dir)\S*\s+\]\]?$"
)  # of an earlier run


_OF_CASE = re.compile(r"^case \$\{?(\w+)\}? in (.*)$")


def _of_variable(test: str, known: Mapping[str, str]) -> bool | None:
    if (match := _OF_CASE.match(test)) is not None and (value := known.get(match[1])) is not None:
        return None if "$" in value else any(fnmatchcase(value, one) for one in match[2].split("|"))
    if (match := _EMPTY.match(test)) is not None and (value := known.get(match[3])) is not None:
        return None if "$" in value else ((value == "") == (match[2] == "z")) != bool(match[1])
    if (match := _SAME.match(test)) is not None and (value := known.get(match[1])) is not None:
        return None if "$" in value else (value == match[3]) == (match[2] in ("=", "==", "-eq"))
    return None
