"""The functions of a repository that train: they update weights, or hand over to a framework that does."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from trainsleuth.facts import Function

from ..loop.frameworks import Handover
from ..loop.steps import Sign
from .sidelines import NEVER


def steps_in(
    table: Mapping[Function, list[Sign]], handed: Mapping[Function, list[Handover]], loaded: Collection[str]
) -> Iterator[Function]:
    """Training steps and hand-overs of `loaded` files: what no entry is seen to reach is chosen by a name."""
    steps = [function for function, found in table.items() if any(sign.role == "backward" for sign in found)]
    for function in (*(updating(table, steps) or steps), *handed):
        if not NEVER.search(function.path) and function.path in loaded:
            yield function


def updating(table: Mapping[Function, list[Sign]], backward: list[Function]) -> list[Function]:
    """Without those of gradients for something else than training: the same function or class steps an optimizer."""
    stepping = {function for function, found in table.items() if any(sign.role == "optimizer step" for sign in found)}
    owners = {(one.path, one.owner) for one in stepping if one.owner}
    return [one for one in backward if one in stepping or (one.path, one.owner) in owners]
