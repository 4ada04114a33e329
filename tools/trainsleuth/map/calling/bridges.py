"""Calls that reading did not resolve and that must lead to training: an object from a registry, a table, an import by name.

Only asked when the entry is not seen to train: which methods that do train have the name of such a call?
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from trainsleuth.facts import Class, Expr, External, Function
from trainsleuth.facts.reading.scopes import bindings

from ..naming.named_choice import best_named, is_named
from ..programs.entries import Entry
from ..programs.sidelines import NEVER
from .edges import GUESS, Edge
from .graph import Graph
from .methods import may_take
from .reach import reach

MAX_ROUNDS = 4  # a runner from a registry calls a trainer from another
MAX_NAMESAKES = 60  # a more common name says nothing
MAX_TARGETS = 4
DEPTH = 9  # calls from a namesake down to the training step
_TRAINS = re.compile(r"train|fit|learn|optimi[sz]e|update|observe|run|step|iter|epoch|main|launch|start|fn$|func", re.I)
_SURELY = ("train", "fit", "learn", "run_training")


@dataclass(frozen=True)
class Bridges:
    """`goals` are the functions that train, 2 by a step of their own and 1 by a framework's; `words` are those of
    the settings and of the command, `weights` what they weigh."""

    graph: Graph
    goals: Mapping[Function, int]
    words: Collection[str]
    weights: Mapping[str, float]

    def over(self, entry: Entry) -> tuple[Entry, dict[str, Class]]:
        """The entry with what it reaches when its unresolved calls lead to their namesakes that train.

        Also the class of each object that was called so, by the name that the program gives it.
        """
        held: dict[str, Class] = {}
        crossed: set[tuple[Function, int]] = set()
        for _ in range(MAX_ROUNDS if self.goals else 0):
            if any(goal in entry.reach.distance for goal in self.goals):
                break
            found = min(self._openings(entry, crossed), key=lambda one: one[:2], default=None)
            if found is None:
                break
            _, _, caller, edges, name = found
            cls = self.graph.index.class_of(edges[0].target)
            if cls is not None:
                held.setdefault(name, self._below(cls))
                made = self.graph.constructed(held[name])
                edges += [Edge(method, max(cost, GUESS), edges[0].position) for method, cost in made]
            self.graph.bridge(caller, edges)
            crossed.add((caller, edges[0].position))
            entry = replace(entry, reach=reach(self.graph, entry.reach.roots))
        return entry, held

    def _below(self, cls: Class) -> Class:
        """The class, or the only one below it that a setting names."""
        named = [one for one in self.graph.index.subclasses(cls) if is_named(one, self.words)]
        return named[0] if len(named) == 1 else cls

    def _openings(
        self, entry: Entry, crossed: Collection[tuple[Function, int]]
    ) -> Iterator[tuple[tuple[bool, int], int, Function, list[Edge], str]]:
        known = self.graph.imports(frozenset(root.path for root in entry.reach.roots))
        for order, (caller, distance) in enumerate(entry.reach.distance.items()):
            for position, event in enumerate(caller.events):
                for call in event.calls if (caller, position) not in crossed else ():
                    if self._is_open(caller, call):
                        name = call.last if call.receiver is not None else "__call__"
                        targets = [one for one in self.graph.methods.named(name) if one.path in known]
                        taking = [one for one in targets if may_take(one, call)]
                        chosen = self._chosen(taking, entry) if taking and len(targets) <= MAX_NAMESAKES else []
                        if chosen:
                            rank = (_TRAINS.search(call.last) is None, distance)
                            holder = call.receiver.last if call.receiver is not None else call.last
                            yield rank, order, caller, [Edge(one, GUESS, position) for one in chosen], holder

    def _is_open(self, caller: Function, call: Expr) -> bool:
        """A method of something that nobody knows, or a variable that is called."""
        receiver = call.receiver
        if not call.last or call.last.startswith("__") or self.graph.targets(caller, call):
            return False
        if receiver is None:
            return (
                call.last in bindings(caller)
                and _TRAINS.search(call.last) is not None
                and not any(isinstance(one, External) for one in self.graph.values.of(caller, call.parts[0]))
            )
        held = self.graph.values.of(caller, receiver) if receiver.kind == "path" else ()
        return not any(isinstance(one, External) for one in held)

    def _chosen(self, targets: list[Function], entry: Entry) -> list[Function]:
        """Of namesakes, those that train: the ones that a setting names, else those that override no other.

        The only train() that a setting names is taken even when it is not seen to lead to a training step.
        """
        owned = ((one, self.graph.index.class_of(one)) for one in targets if one not in entry.reach.distance)
        owners = {one: cls for one, cls in owned if cls is not None}
        surely = self._open(owners, entry) if targets[0].name in _SURELY else []
        best = best_named(self.graph.index, surely, self.weights)
        above = {base for one in best for base in self.graph.index.lineage(owners[one])[1:]}
        lowest = [one for one in best if owners[one] not in above]
        if len(lowest) == 1 and len(best) < len(surely):
            return lowest
        named = [one for one, cls in owners.items() if is_named(self._below(cls), self.words)]
        leads = {one: self._leads(one) for one in owners}
        most = max((leads[one] for one in named), default=0) or max(leads.values(), default=0)
        leading = [one for one in named if leads[one] and leads[one] == most] or [
            one for one in owners if leads[one] and leads[one] == most
        ]
        below = [one for one in leading if not self._overrides(owners[one], leading)]
        return best_named(self.graph.index, below or leading, self.weights)[:MAX_TARGETS]

    def _open(self, owners: Mapping[Function, Class], entry: Entry) -> list[Function]:
        """Those of which no override is reached by another way."""
        return [
            one
            for one, cls in owners.items()
            if not any(
                below.methods.get(one.name) in entry.reach.distance for below in self.graph.index.subclasses(cls)
            )
        ]

    def _overrides(self, cls: Class, among: list[Function]) -> bool:
        above = self.graph.index.lineage(cls)[1:]
        return any(method in among for base in above for method in base.methods.values())

    def _leads(self, function: Function) -> int:
        """2 when it leads to a training step of the repository, 1 to one that a framework holds, else 0."""
        if NEVER.search(function.path):
            return 0
        seen = (
            reach(self.graph, [function], max_distance=DEPTH).distance if function not in self.goals else {function: 0}
        )
        return max((self.goals[goal] for goal in self.goals if goal in seen), default=0)
