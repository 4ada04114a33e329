"""What a statement is not understood without: the line right above that makes what it uses, the other arm that ends."""

from __future__ import annotations

import re

from .pages import Page
from .ranking import TALKS
from .sources import Source

LONGEST = 90  # characters of such a line
_MADE = re.compile(r"([A-Za-z_]\w*)(?:: [^=]+?)? = .*[\w\])]\(")  # by a call


def made_above(source: Source, page: Page, place: int) -> int | None:
    """The place of `start = randint(0, rest)` above `piece = wave[start : start + length]`, in the same block."""
    every = source.units(page)
    if place < 2 or every[place - 1].above != every[place].above or every[place - 1].is_part:
        return None
    text = every[place - 1].text
    made = _MADE.match(text)
    used = made is not None and re.search(rf"(?<![\w.]){made[1]}\b", every[place].text) is not None
    return place - 1 if used and len(text) <= LONGEST and not TALKS.search(text) else None


def ending_arm(source: Source, page: Page, place: int) -> tuple[int, int] | None:
    """Of `if count == 5:` the places of `elif count >= 10:` and of the break, return or raise that it leads to."""
    every = source.units(page)
    place = every[place].above[-1] if every[place].above and not every[place].text.startswith("if ") else place
    first = every[place]
    if not first.text.startswith("if ") or not first.text.endswith(":"):
        return None
    header = None
    for other in range(place + 1, len(every)):
        unit = every[other]
        if unit.indent < first.indent or (unit.indent == first.indent and not unit.text.startswith("elif ")):
            return None
        if unit.indent == first.indent:
            header = other
        elif header is not None and header in unit.above and _ENDS.match(unit.text):
            return header, other
    return None


_ENDS = re.compile(r"(?:break|return|raise)\b")
