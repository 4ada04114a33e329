"""A program on the way to its training step: what runs, by what its settings choose, and over what reading left open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from trainsleuth.facts import Class, Function, Index

from ..calling.bridges import Bridges
from ..calling.edges import GUESS
from ..calling.graph import Graph
from ..calling.instances import instances
from ..calling.reach import reach
from ..calling.values import Values
from ..loop.frameworks import Handover, handovers
from ..loop.steps import Sign, signs
from ..recipe.branches import Settled, is_not_chosen
from ..recipe.chosen import offered
from ..recipe.given_parameters import with_parameters
from ..recipe.given_sections import with_sections
from ..recipe.recipes import RECIPE_DISTANCE
from ..recipe.told import Told
from .entries import Entry, trainings
from .training_steps import steps_in

MADE_DISTANCE = 5  # from the entry: what is made there is what the program works with
ASSUMED_DISTANCE = 8  # of what leads to a training step that the entry is not seen to reach

Reached = tuple[Function, int]  # at a distance from the entry


class Tracing(NamedTuple):
    """What is known of a program on the way to its training step."""

    values: Values
    graph: Graph
    table: Mapping[Function, list[Sign]]
    handed: Mapping[Function, list[Handover]]
    entry: Entry

    def reaching(self, extra: list[Reached]) -> Tracing:
        """With what else is known to run."""
        entry = again(self.graph, self.entry, extra)
        return self._replace(entry=replace(entry, trains=any(trainings(entry.reach, self.table, self.handed))))

    def training(self) -> Tracing:
        """Whatever was seen of it, it trains."""
        return self._replace(entry=replace(self.entry, trains=True))

    @property
    def is_aside(self) -> bool:
        """Its own calls do not lead to training."""
        alone = reach(self.graph, self.entry.reach.roots)
        return not any(trainings(alone, self.table, self.handed))


def handed_over(index: Index, values: Values) -> dict[Function, list[Handover]]:
    """Those that the settings, as far as they are known, let run."""
    found: dict[Function, list[Handover]] = {}
    for handover in handovers(index, values):
        site = handover.site
        if not is_not_chosen(site.event, Settled(values.known.settings, index, site.function)):
            found.setdefault(site.function, []).append(handover)
    return found


def again(graph: Graph, entry: Entry, extra: list[Reached]) -> Entry:
    """The entry with what else is known to run, as far as its own calls do not lead there."""
    seen = reach(graph, entry.reach.roots)
    more = [(function, cost) for function, cost in extra if function not in seen.distance]
    return replace(entry, reach=reach(graph, entry.reach.roots, more) if more else seen)


def as_told(before: Tracing, told: Told, roots: list[Reached]) -> Tracing:
    """Traced anew by what the settings choose and decide."""
    made = frozenset((*_made(before.graph, before.entry), *told.preset.classes))
    values = told.held(before.values).making(made)
    values = values.deciding(instances(values, before.entry.reach.distance))
    graph = Graph(values, made, told.words)
    table, handed = signs(values.index, values), handed_over(values.index, values)
    tracing = Tracing(values, graph, table, handed, before.entry).reaching(roots)
    narrower = frozenset((*_made(graph, tracing.entry), *told.preset.classes))
    if not told.decided and not narrower < made:
        return tracing
    reached = tracing.entry.reach.distance
    values = values.deciding(with_parameters(graph, reached, with_sections(graph, reached, values.known.settings)))
    made = narrower
    within = values.within(tracing.entry.reach.distance).making(made)
    graph = Graph(within, made, told.words)
    graph.keep_made(tracing.entry.reach.distance)
    return tracing._replace(values=within, graph=graph).reaching(roots)


def _made(graph: Graph, entry: Entry) -> Iterator[Class]:
    """Classes that the program makes near its entry."""
    for function, distance in entry.reach.distance.items():
        if distance <= MADE_DISTANCE:
            yield from graph.made_in(function)


def to_training(tracing: Tracing, roots: list[Reached], told: Told) -> tuple[Tracing, list[Reached]]:
    """Over what reading did not resolve, when the entry's own calls do not lead to training; and all that was added."""
    index, more = tracing.values.index, list(roots)
    if tracing.is_aside:
        alone = replace(tracing.entry, reach=reach(tracing.graph, tracing.entry.reach.roots))
        bridged, held = _bridged(tracing.graph, alone, tracing.table, tracing.handed, told.weights)
        if bridged.trains:
            values = tracing.values.knowing(held) if held else tracing.values
            graph = tracing.graph.again(values) if held else tracing.graph
            tracing = Tracing(values, graph, signs(index, values), handed_over(index, values), tracing.entry)
            tracing = tracing.reaching(more)
    if not tracing.entry.trains:
        held_out = offered(index, tracing.entry.reach.distance, told.tables, told.choices)
        more += [(one, ASSUMED_DISTANCE) for one in held_out]
        tracing = tracing.reaching(more)
    unmade = [(one, RECIPE_DISTANCE) for one in _unmade(index, tracing.graph, tracing.entry, tracing.table)]
    if unmade:
        more += unmade
        tracing = tracing.reaching(more)
    return tracing, more


def _bridged(
    graph: Graph,
    entry: Entry,
    table: Mapping[Function, list[Sign]],
    handed: Mapping[Function, list[Handover]],
    weights: Mapping[str, float],
) -> tuple[Entry, dict[str, Class]]:
    """The entry with what its unresolved calls must lead to, when it is not seen to train, and what objects are."""
    known = graph.imports(frozenset(root.path for root in entry.reach.roots))
    goals = {one: 1 if one in handed else 2 for one in steps_in(table, handed, known)}
    found, held = Bridges(graph, goals, graph.words, weights).over(entry)
    return replace(found, trains=any(trainings(found.reach, table, handed))), held


def _unmade(index: Index, graph: Graph, entry: Entry, table: Mapping[Function, list[Sign]]) -> Iterator[Function]:
    """Constructors of objects on the way to the training step that nobody was seen to make."""
    for step, found in table.items():
        if step in entry.reach.distance and any(sign.role == "backward" for sign in found):
            for _, edge in entry.reach.way(step):
                owner = index.class_of(edge.target) if edge.cost >= GUESS else None
                made = index.method(owner, "__init__") if owner is not None else None
                if made is not None and made not in entry.reach.distance:
                    yield made
