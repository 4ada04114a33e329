"""Where an expression stands whose value is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from trainsleuth.facts import Function

from ..records import Key

if TYPE_CHECKING:
    from ..truth import Truth

MAX_HOPS = 8  # from name to name and from a parameter to those who call


class Scope(NamedTuple):
    """Where an expression stands: before the statement `position` of `function`. `said` collects keys that decided.

    `assumed` are keys by name as they are before that statement.
    """

    truth: Truth
    function: Function
    position: int
    said: list[Key]
    hops: int = MAX_HOPS
    assumed: Mapping[str, Key] = MappingProxyType({})

    def at(self, function: Function, position: int) -> Scope:
        """One hop further, at another statement."""
        return self._replace(function=function, position=position, hops=self.hops - 1)
