"""Calls that reading did not resolve and that must lead to training: an object from a registry, a table, an import by name.

Only asked when the entry is not seen to train: which methods that do train have the name of such a call?
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from trainsleuth.facts import Class, Expr, External, Function

from .entries import NEVER, Entry
from .graph import GUESS, Edge, Graph
from .named_choice import is_named
from .reach import reach

MAX_ROUNDS = 4  # a runner from a registry calls a trainer from another
MAX_NAMESAKES = 60  # a more common name says nothing
MAX_TARGETS = 4
DEPTH = 9  # calls from a namesake down to the training step
_TRAINS = re.compile(r"train|fit|learn|optimi[sz]e|update|observe|run|step|iter|epoch|main|launch|start|fn$|func", re.I)


@dataclass(frozen=True)
class Bridges:
    """`goals` are the functions that train, 2 by a step of their own and 1 by a framework's; `words` are those of
    the settings and of the command."""

    graph: Graph
    goals: Mapping[Function, int]
    words: Collection[str]

    def over(self, entry: Entry) -> Entry:
        """The entry with what it reaches when its unresolved calls lead to their namesakes that train."""
        for _ in range(MAX_ROUNDS):
            if any(goal in entry.reach.distance for goal in self.goals):
                break
            found = min(self._openings(entry), key=lambda one: one[:2], default=None)
            if found is None:
                break
            _, _, caller, edges = found
            self.graph.bridge(caller, edges)
            entry = replace(entry, reach=reach(self.graph, entry.reach.roots))
        return entry

    def _openings(self, entry: Entry) -> Iterator[tuple[tuple[bool, int], int, Function, list[Edge]]]:
        known = self.graph.imports(frozenset(root.path for root in entry.reach.roots))
        for order, (caller, distance) in enumerate(entry.reach.distance.items()):
            for position, event in enumerate(caller.events):
                for call in event.calls:
                    if self._is_open(caller, call):
                        targets = [one for one in self.graph.methods_named(call.last) if one.path in known]
                        chosen = self._chosen(targets, entry) if len(targets) <= MAX_NAMESAKES else []
                        if chosen:
                            rank = (_TRAINS.search(call.last) is None, distance)
                            yield rank, order, caller, [Edge(one, GUESS, position) for one in chosen]

    def _is_open(self, caller: Function, call: Expr) -> bool:
        """A method of something that nobody knows."""
        receiver = call.receiver
        if receiver is None or not call.last or call.last.startswith("__") or self.graph.targets(caller, call):
            return False
        held = self.graph.values.of(caller, receiver) if receiver.kind == "path" else ()
        return not any(isinstance(one, External) for one in held)

    def _chosen(self, targets: list[Function], entry: Entry) -> list[Function]:
        """Of namesakes, those that train: the ones that a setting names, else those that override no other."""
        owners = {one: self.graph.index.class_of(one) for one in targets if one not in entry.reach.distance}
        named = [one for one, cls in owners.items() if cls is not None and is_named(cls, self.words)]
        leads = {one: self._leads(one) for one in owners}
        best = max((leads[one] for one in named), default=0) or max(leads.values(), default=0)
        leading = [one for one in named if leads[one] and leads[one] == best] or [
            one for one in owners if leads[one] and leads[one] == best
        ]
        below = [one for one in leading if not self._overrides(owners[one], leading)]
        return (below or leading)[:MAX_TARGETS]

    def _overrides(self, cls: Class | None, among: list[Function]) -> bool:
        above = self.graph.index.lineage(cls)[1:] if cls is not None else ()
        return any(method in among for base in above for method in base.methods.values())

    def _leads(self, function: Function) -> int:
        """2 when it leads to a training step of the repository, 1 to one that a framework holds, else 0."""
        if NEVER.search(function.path):
            return 0
        seen = (
            reach(self.graph, [function], max_distance=DEPTH).distance if function not in self.goals else {function: 0}
        )
        return max((self.goals[goal] for goal in self.goals if goal in seen), default=0)
