"""Classes that code chooses by settings in the arms of an if: kind=joint → JointLoader, where the others are named beside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from trainsleuth.facts import Branch, Class, Function

from ...configuration import Key, Truth
from ...configuration.use.untaken import is_taken, untaken
from ...drawing.statements import event_at
from ...program import Program
from ...programs.standing import off
from .tails import Tails

MOST = 8
MAX_KEYS = 2  # that one class is chosen by


class _Site(NamedTuple):
    cls: Class
    function: Function
    line: int
    branches: tuple[Branch, ...]


def chosen_in_code(program: Program, truth: Truth, tails: Tails) -> Iterator[tuple[str, dict[str, Any]]]:
    """What one of several classes of the project is chosen by, nearest to the entry first."""
    if not program.told:
        return
    beside: dict[tuple[Function, int], list[_Site]] = {}
    for site in _sites(program):
        beside.setdefault((site.function, site.branches[0].id), []).append(site)
    distance, told = program.entry.reach.distance, set[Class]()
    near = sorted(beside.values(), key=lambda sites: (distance.get(sites[0].function, MOST_FAR), sites[0].line))
    for sites in near:
        if len({one.cls for one in sites}) < 2 or len(told) == MOST:
            continue
        left = [one for one in sites if not untaken(truth, one.function, one.line)]
        if len({one.cls for one in left}) != 1 or left[0].cls in told:
            continue
        one = left[0]
        keys = list(_keys(truth, one))
        if keys and not off(program, truth, one.function, one.line):
            told.add(one.cls)
            yield _said(truth, one, keys, tails)


MOST_FAR = 1_000.0


def _sites(program: Program) -> Iterator[_Site]:
    for found in (program.named_at, program.made_at):
        for cls, places in found.items():
            for function, line in places:
                event = event_at(function, line)
                branches = tuple(one for one in event[1].block.branches if one.kind == "if") if event else ()
                if branches:
                    yield _Site(cls, function, line, branches)


def _keys(truth: Truth, site: _Site) -> Iterator[Key]:
    """What decides that its arms are taken; nothing where that is not known of one of them."""
    found: list[Key] = []
    for branch in site.branches:
        said: list[Key] = []
        if not is_taken(truth, site.function, branch, said):
            return
        found += [key for key in said if key in truth.plain_keys]
    yield from list(dict.fromkeys(found))[:MAX_KEYS]


def _said(truth: Truth, site: _Site, keys: list[Key], tails: Tails) -> tuple[str, dict[str, Any]]:
    cls = site.cls
    named = ", ".join(f"{key.name.rpartition('.')[2]}={truth.end(key.value)}" for key in keys)
    where = f"{tails.of(site.function.path)}:{site.line}"
    text = f"{named} → {cls.name} {tails.of(cls.path)}:{cls.line} (named {where})"
    return text, {"path": cls.path, "line": cls.line, "keys": [key.to_dict() for key in keys]}
