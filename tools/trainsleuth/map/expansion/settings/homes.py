"""The part that a setting belongs to when its name does not tell: that whose code reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ...configuration import Key, Truth
from ...drawing.statements import enclosing
from ...records import Part
from .sections import OF, is_set

FAR = 40  # lines between a read and a place of a part in the same function


def homes(truth: Truth, parts: Mapping[str, Part]) -> dict[str, str]:
    """Part by key, for what files and the command set and no part's words name."""
    words = re.compile("|".join(OF.values()), re.I)
    places = _by_function(truth, parts)
    found = {}
    for key in truth.keys:
        if is_set(key) and not words.search(key.name) and (home := _home(truth, key, places)):
            found[key.name] = home
    return found


def _by_function(truth: Truth, parts: Mapping[str, Part]) -> dict[tuple[str, str], list[tuple[int, str]]]:
    """Lines of places, with their part, by path and function."""
    held: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for name in OF:
        for place in parts[name].places:
            file = truth.program.index.files.get(place.path)
            if file is not None and place.cell is None:
                held.setdefault((place.path, enclosing(file, place.line).qualname), []).append((place.line, name))
    return held


def _home(truth: Truth, key: Key, places: Mapping[tuple[str, str], list[tuple[int, str]]]) -> str:
    near = sorted(_near(truth, key, places))
    return near[0][1] if near else ""


def _near(truth: Truth, key: Key, places: Mapping[tuple[str, str], list[tuple[int, str]]]) -> Iterator[tuple[int, str]]:
    for use in key.reads:
        file = truth.program.index.files.get(use.path)
        function = enclosing(file, use.line) if file is not None else None
        for line, name in places.get((use.path, function.qualname), ()) if function is not None else ():
            if abs(line - use.line) <= FAR:
                yield abs(line - use.line), name
