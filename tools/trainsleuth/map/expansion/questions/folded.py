"""A range of lines as a reader needs it: under its headers, without arms that do not run and clocks, messages in brief."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ...drawing.wording import clean
from .units import Unit

_ARM = re.compile(r"(?:if|elif|else|for|while|with|try|except|finally|case)\b.*:$")
_TELLS = re.compile(
    r"raise\b|(?:\w+\.)*_?log(?:ger|ging)?\.\w+\(|print\(|warnings\.warn\(|\w*(?:msg|message|error\w*) = "
)
_MESSAGE = re.compile(r"^(assert .+?), \(?[fr]{0,2}[\"'].*$")
_MEASURES = re.compile(r"(?:\w+\.)*\w*(?:profiler|timer)\w*\.\w+\(|\w+ = time\.\w+\(\)(?: - \w+)?$")
_CLASS = re.compile(r"class (\w+)")
_SIGNATURE = re.compile(r"((?:async )?def \w+)\(.*\)(?: -> .*)?:$")
BRIEF = 60  # characters of what is only told to a user


class Told(NamedTuple):
    """A statement as it is told; `is_off` stands for all below it that does not run."""

    unit: Unit
    text: str
    is_off: bool = False


def folded(every: Sequence[Unit], places: Sequence[int], is_off: Callable[[Unit], bool]) -> Iterator[Told]:
    """The statements `places` of a file, and those above that they stand under. As they are where nothing would be left."""
    asked = set(places)
    around = sorted({above for place in places for above in every[place].above if above < place} - asked)
    hidden = {place for place in places if _is_idle_arm(every, place, is_off)}
    closed = {every[place].above[-1] for place in hidden}
    if not any(place not in hidden and place not in closed for place in places):
        hidden, closed = set(), set()
    brief = dict(_in_brief(every, [place for place in places if place not in hidden]))
    owner = ""
    told = {child for children, _ in brief.values() for child in children}
    for place in sorted((*around, *places)):
        unit = every[place]
        if place not in asked:
            text = _SIGNATURE.sub(r"\1(…)", unit.text)
            if (named := _CLASS.match(text)) and any(place in every[one].above for one in around):
                owner += f"{named[1]}."  # told with its method
                continue
            yield Told(unit, text.replace("def ", f"def {owner}", 1) if owner else text, place in closed)
            owner = ""
        elif place in brief:
            yield Told(unit, f"{unit.text} {brief[place][1]}")
        elif place not in hidden and place not in told and not _MEASURES.match(unit.text):
            text = clean(unit.text, BRIEF) if _TELLS.match(unit.text) else _MESSAGE.sub(r"\1", unit.text)
            yield Told(unit, text, place in closed)


def signature(text: str) -> str:
    """A head of a function with the names of its parameters alone; "" for what is none."""
    match = _PARAMETERS.match(text)
    if match is None:
        return ""
    names = (re.match(r"\s*(\*{0,2}\w+|[*/])", one) for one in _at_commas(match[2]))
    return f"{match[1]}({', '.join(one[1] for one in names if one is not None)}):"


_PARAMETERS = re.compile(r"((?:async )?def \w+)\((.*)\)(?: -> .*)?:$", re.S)


def _at_commas(text: str) -> Iterator[str]:
    """Split where no bracket is open."""
    start = deep = 0
    for place, letter in enumerate(text):
        deep += (letter in "([{") - (letter in ")]}")
        if letter == "," and not deep:
            yield text[start:place]
            start = place + 1
    yield text[start:]


def _is_idle_arm(every: Sequence[Unit], place: int, is_off: Callable[[Unit], bool]) -> bool:
    above = every[place].above
    return bool(above) and _ARM.match(every[above[-1]].text) is not None and is_off(every[place])


def _in_brief(every: Sequence[Unit], places: Sequence[int]) -> Iterator[tuple[int, tuple[list[int], str]]]:
    """Headers of what is only told to a user: which statements those are, and the last of them in short."""
    below: dict[int, list[int]] = {}
    for place in places:
        for header in every[place].above[-1:]:
            below.setdefault(header, []).append(place)
    for header, children in below.items():
        if (
            header in places
            and _ARM.match(every[header].text)
            and all(_TELLS.match(every[one].text) for one in children)
        ):
            last = every[children[-1]].text
            yield header, (children, last.partition("(")[0] if last.startswith("raise") else clean(last, BRIEF))
