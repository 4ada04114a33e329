"""What a statement cannot be read without: the line right above it that makes a name which it uses."""

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
