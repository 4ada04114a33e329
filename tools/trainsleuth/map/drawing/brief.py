"""Places for which there is no room as lines: each by its number and a word, which several of one file may share."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from ..records import OBSERVED, Place
from .telling import telling_word

WIDTH = 16
RAN = " [ran]"  # behind the line number of a place that was seen to run
_BETWEEN, _AND = " · ", ", "


@lru_cache(maxsize=10_000)
def word_of(place: Place) -> str:
    """What is defined, looped over or called there, else its role."""
    word = telling_word(place.text) or place.role
    return word if len(word) <= WIDTH else word[: WIDTH - 1] + "…"


def where_of(place: Place) -> str:
    where = f"{place.line}" if place.cell is None else f"cell {place.cell}:{place.line}"
    return where + (RAN if place.role == OBSERVED else "")


def in_words(places: Iterable[Place]) -> str:
    """Places of one file, the first of each word in order: `12, 31 Linear · 14 forward`."""
    shared: dict[str, list[str]] = {}
    for place in places:
        shared.setdefault(word_of(place), []).append(where_of(place))
    return _BETWEEN.join(f"{_AND.join(places)} {word}" for word, places in shared.items())


def price(place: Place, beside: Iterable[Place]) -> int:
    """Characters that `place` adds to those of its file."""
    word = word_of(place)
    if any(word_of(other) == word for other in beside):
        return len(where_of(place)) + len(_AND)
    return len(where_of(place)) + 1 + len(word) + len(_BETWEEN)
