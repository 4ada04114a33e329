"""Tables of names, written as running text."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())
