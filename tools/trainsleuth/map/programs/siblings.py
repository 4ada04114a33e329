"""Files that are near copies of each other: show one, name the rest."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from trainsleuth.facts import Index

ALIKE = 0.6  # share of called names that two files have in common
MIN_NAMES = 8  # a shorter file says too little to compare


def groups(index: Index, paths: Iterable[str]) -> list[list[str]]:
    """`paths` in groups of near copies, in the order given; most stand alone."""
    found: list[list[str]] = []
    for path in paths:
        home = next((group for group in found if _alike(index, group[0], path)), None)
        if home is None:
            found.append([path])
        else:
            home.append(path)
    return found


def _alike(index: Index, one: str, other: str) -> bool:
    if PurePosixPath(one).suffix != PurePosixPath(other).suffix:
        return False
    first, second = index.files[one].names, index.files[other].names
    if min(len(first), len(second)) < MIN_NAMES:
        return False
    shared = len(first & second)
    return shared / len(first | second) >= ALIKE
