"""Chains of values: which of their links tells of what a message is about."""

from __future__ import annotations

from collections.abc import Sequence

from trainsleuth.finding import Link


def where_it_comes_from(chain: Sequence[Link]) -> Link:
    """The link that gave the numbers their range; before it may stand what cut the input off from its graph."""
    return next((link for link in chain if " gives " in link.why), chain[0])
