"""Training steps to which no way from the entry was read: which are those of the program, and what leads down to them.

A careful reader looks for those that the settings and the command name, and for what calls them. What is found so is
supposed: the map says that it was not read how the entry gets there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from trainsleuth.facts import Function, Index

from ..calling.edges import MADE
from ..calling.graph import Graph
from ..naming.named_choice import best_named
from ..program import Program
from .sidelines import NEVER
from .training_steps import updating

MAX_HOPS = 6  # from a step up to what nobody is seen to call
MAX_ABOVE = 3  # callers that no word tells apart


@dataclass(frozen=True)
class Unreached:
    """`words` are names in the settings and the command, with their weights; `loaded` files may belong to the program."""

    graph: Graph
    words: Mapping[str, float]
    loaded: Collection[str]

    def likeliest(self, steps: Iterable[Function]) -> list[Function]:
        """Those of the steps that the words name best; all where they name none."""
        return best_named(self.graph.index, steps, self.words)

    def tops(self, step: Function) -> list[Function]:
        """What leads down to the step and is called by nobody; of many callers, by those that the words name."""
        level, seen = [step], {step}
        for _ in range(MAX_HOPS):
            above = [one for below in level for one in self._callers(below) if one not in seen]
            above = best_named(self.graph.index, dict.fromkeys(above), self.words)
            if len(above) > MAX_ABOVE or not above:
                break
            level = above
            seen.update(above)
        return level

    def _callers(self, function: Function) -> list[Function]:
        found = dict.fromkeys(site.function for site in self.graph.values.calls.of(function))
        return [
            one
            for one in found
            if one.path in self.loaded
            and not NEVER.search(one.path)
            and any(edge.target is function and edge.cost < MADE and not edge.guarded for edge in self.graph.edges(one))
        ]


def trained_elsewhere(program: Program) -> Function | None:
    """A training step or hand-over of the repository, where the program itself is not seen to train."""
    backward = [one for one, found in program.signs.items() if any(sign.role == "backward" for sign in found)]
    found = (*updating(program.signs, backward), *program.handed)
    return _first(found) or _first(_steps_for_trainers(program.index))


def _steps_for_trainers(index: Index) -> Iterator[Function]:
    """The steps of classes that a trainer of another library can train: they make their optimizers."""
    for cls in index.classes():
        if _STEP in cls.methods and _OPTIMIZERS in cls.methods and index.external_bases(cls):
            yield cls.methods[_STEP]


_STEP, _OPTIMIZERS = "training_step", "configure_optimizers"


def _first(found: Iterable[Function]) -> Function | None:
    outside = (one for one in found if not NEVER.search(one.path))
    return min(outside, key=lambda one: (one.path.count("/"), one.path, one.line), default=None)
