"""A library that no file starts: its way in is the method by which its users train."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from trainsleuth.facts import Function, Index
from trainsleuth.repository import is_notebook, is_python, is_under

from ..calling.graph import Graph
from ..calling.reach import reach
from ..loop.frameworks import Handover
from ..loop.steps import Sign
from .entries import Entry, trainings
from .sidelines import ASIDE, NEVER

_WAY_IN = re.compile(r"(?:learn|train|fit|run|optimi[sz]e)(?:_(?:loop|model|network|agent))?")
_FRAME = re.compile(r"Trainer|Runner|Learner|Solver|Engine|Experiment|Workspace|Agent|Algorithm|Estimator")
FRAMED = 3.0  # a class that is called a frame of training is one, whatever is seen from it


def ways_in(
    index: Index, graph: Graph, signs: Mapping[Function, list[Sign]], handed: Mapping[Function, list[Handover]]
) -> list[Entry]:
    """Methods and functions called learn, train, fit or run, and the training steps themselves, the likeliest first."""
    steps = [one for one, found in signs.items() if any(sign.role == "backward" for sign in found)]
    every = dict.fromkeys((*_named(index), *steps)) if steps or handed else ()
    found = [_entry(index, graph, one, signs, handed) for one in every if not NEVER.search(one.path)]
    return sorted(found, key=lambda entry: (-entry.score, entry.path, entry.line))


def trainers_shown_in_part(
    index: Index,
    graph: Graph,
    found: Sequence[Entry],
    signs: Mapping[Function, list[Sign]],
    handed: Mapping[Function, list[Handover]],
    scope: str | None = None,
) -> list[Entry]:
    """The ways in of a library whose README alone trains, by a gradient without a step: its users call them."""
    training = [entry for entry in found if entry.trains]
    if not training or any(is_python(one.path) or is_notebook(one.path) or _steps(one, signs) for one in training):
        return []
    ways = ways_in(index, graph, signs, handed)
    return [one for one in ways if (scope is None or is_under(one.path, scope)) and one.trains and _steps(one, signs)]


def _steps(entry: Entry, signs: Mapping[Function, list[Sign]]) -> bool:
    reached = signs.keys() & entry.reach.distance.keys()
    return any(sign.role == "optimizer step" for function in reached for sign in signs[function])


def _named(index: Index) -> Iterator[Function]:
    for file in index.files.values():
        for function in file.functions.values():
            if _WAY_IN.fullmatch(function.name) and not function.outer:
                yield function


def _entry(
    index: Index,
    graph: Graph,
    way_in: Function,
    signs: Mapping[Function, list[Sign]],
    handed: Mapping[Function, list[Handover]],
) -> Entry:
    owner = index.class_of(way_in)
    made = [method for method, _ in graph.constructed(owner) if method.name == "__init__"] if owner is not None else []
    reached = reach(graph, [way_in, *made])
    near = min((distance for distance, _ in trainings(reached, signs, handed)), default=None)
    score = 2.0 * (near is not None) - 2.0 * bool(ASIDE.search(way_in.path)) - 0.1 * way_in.path.count("/")
    score += FRAMED * bool(_FRAME.search(way_in.owner)) + bool(_WAY_IN.fullmatch(way_in.name)) + bool(way_in.loops)
    return Entry(way_in.path, way_in, way_in.line, reached, (), score, near is not None)
