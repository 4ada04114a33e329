"""Training rounds: the loop in which an optimizer steps and a loss is sent backward, wherever the two
stand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..reading.scopes import is_sibling
from ..records import Event, Expr, Function, Loop
from ..tracing.things import Spot
from .effects import Effect

if TYPE_CHECKING:
    from ..index import Index

MAX_CALLERS = 4  # how far out the loop around a step is looked for


class Step(NamedTuple):
    """An optimizer step, seen from `function`: its event there, and the optimizer in that function's words.

    `receiver` is "" when the optimizer has no name there; `names` are the variables that choose it.
    """

    function: Function
    position: int
    receiver: str
    names: frozenset[str]
    trail: tuple[Spot, ...] = ()

    @property
    def event(self) -> Event:
        return self.function.events[self.position]


class Round(NamedTuple):
    """One way a step is reached: the innermost loop that also reaches a backward, and all effects in that
    loop.
    """

    step: Step
    loop: Loop
    backward: Effect
    inside: tuple[Effect, ...]

    def meets(self, effect: Effect) -> bool:
        """A round that steps can have this effect: it is not in another arm of an if."""
        return not is_sibling(self.step.function.events[effect.position].block, self.step.event.block)


def rounds(index: Index, spot: Spot, optimizer: Expr) -> Iterator[Round]:
    """Every way that the step of `optimizer` at `spot` is repeated; none when no loop is in sight."""
    names = frozenset(part.text.partition(".")[0] for part in optimizer.walk() if part.kind == "path")
    name = optimizer.text if optimizer.kind == "path" else ""
    yield from _rounds(index, Step(spot.function, spot.position, name, names), MAX_CALLERS)


def _rounds(index: Index, step: Step, depth: int) -> Iterator[Round]:
    effects = index.effects.of(step.function)
    for place in reversed(step.event.block.loops):
        loop = step.function.loops[place]
        inside = tuple(e for e in effects if place in step.function.events[e.position].block.loops)
        backward = next((e for e in inside if e.kind == "backward"), None)
        if backward is not None and not _chooses(loop, step):
            yield Round(step, loop, backward, inside)
            return
    for caller in index.callers(step.function) if depth else ():
        if caller.spot.function is step.function:
            continue
        receiver = index.effects.renamed(step.receiver, step.function, caller)
        names = frozenset([receiver.partition(".")[0]]) if receiver else frozenset()
        outer = Step(caller.spot.function, caller.spot.position, receiver, names, (caller.spot, *step.trail))
        yield from _rounds(index, outer, depth - 1)


def _chooses(loop: Loop, step: Step) -> bool:
    """The loop goes over optimizers: each of its rounds steps another one."""
    targets = loop.target.walk() if loop.target is not None else ()
    return any(part.kind == "path" and part.text in step.names for part in targets)
