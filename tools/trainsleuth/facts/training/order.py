"""The order in which effects happen: around one call, backwards and forwards, with loops and branches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ..reading.scopes import encloses, is_sibling, reaching
from ..records import MODULE_BODY, Branch, Expr, Function, Loop
from ..tracing.things import Instance, Spot
from .effects import NAMED, Effect
from .roles import is_optimizer, sounds_like_optimizer, stepped

if TYPE_CHECKING:
    from ..index import Index

Answer = TypeVar("Answer")
MAX_CALLERS = 4  # how far out the code around a call is looked for


class Surrounding(NamedTuple):
    """The effects around one of them: those of the innermost loop that also holds a wanted one, else of the function,
    which is then taken for one round of a loop somewhere else. A script's own body and its main run once: no round.

    `effects` are in the order in which one round runs; `here` is the one that was asked about.
    """

    function: Function
    loop: Loop | None
    effects: tuple[Effect, ...]
    here: Effect

    def backwards(self) -> Iterator[Effect]:
        """What ran before, the latest first; then what the round before did after this place."""
        place = self.effects.index(self.here)
        yield from (e for e in reversed(self.effects[:place]) if not excludes(e, self.here))
        yield from (e for e in reversed(self.effects[place + 1 :]) if not excludes(e, self.here))

    def forwards(self) -> Iterator[Effect]:
        """What runs after, the next first; then what the next round does before this place."""
        place = self.effects.index(self.here)
        yield from (e for e in self.effects[place + 1 :] if not excludes(e, self.here))
        yield from (e for e in self.effects[:place] if not excludes(e, self.here))

    def is_after(self, effect: Effect) -> bool:
        """In the same round, `effect` comes later than this place."""
        return self.effects.index(effect) > self.effects.index(self.here)


def surroundings(index: Index, spot: Spot, call: Expr, *wanted: str) -> Iterator[Surrounding]:
    """Every way that `call` at `spot` stands near an effect of a kind in `wanted`, from its own function outwards."""

    def around(function: Function, position: int) -> Surrounding | None:
        effects = index.effects.of(function)
        here = next((e for e in effects if e.position == position and e.expr is call), None)
        return _around(function, effects, here, wanted) if here is not None else None

    part = index.part(spot.function.path)
    names = [name for name, kind in NAMED.items() if kind in wanted]
    if any(index.sites.calls_in(name, part) for name in names):
        yield from _outwards(index, spot.function, spot.position, around)


def _around(
    function: Function, effects: tuple[Effect, ...], here: Effect, wanted: tuple[str, ...]
) -> Surrounding | None:
    for place in reversed(function.events[here.position].block.loops):
        inside = tuple(e for e in effects if place in function.events[e.position].block.loops)
        if any(e.kind in wanted and not excludes(e, here) for e in inside):
            return Surrounding(function, function.loops[place], inside, here)
    runs_once = function.name in (MODULE_BODY, "main")
    if not runs_once and any(e.kind in wanted and not excludes(e, here) for e in effects):
        return Surrounding(function, None, effects, here)
    return None


def loops_around(index: Index, function: Function, position: int) -> Iterator[tuple[Function, Loop]]:
    """The innermost loop around event `position`, in its function or around a call of it: one for each way out."""

    def innermost(function: Function, position: int) -> tuple[Function, Loop] | None:
        loops = function.events[position].block.loops
        return (function, function.loops[loops[-1]]) if loops else None

    yield from _outwards(index, function, position, innermost)


def _outwards(
    index: Index, function: Function, position: int, ask: Callable[[Function, int], Answer | None]
) -> Iterator[Answer]:
    """Answers about a place, else about the calls that lead to it, and so on: each place is asked once."""
    waiting, seen = [(function, position, MAX_CALLERS)], {(function, position)}
    while waiting:
        inner, at, depth = waiting.pop(0)
        answer = ask(inner, at)
        if answer is not None:
            yield answer
            continue
        for caller in index.callers(inner) if depth else ():
            place = (caller.spot.function, caller.spot.position)
            if place not in seen and caller.spot.function is not inner:
                seen.add(place)
                waiting.append((*place, depth - 1))


def levels(effect: Effect) -> tuple[Spot, ...]:
    """Where an effect stands: in the asked function, in the function called there, and so on inwards."""
    return (*effect.trail, effect.spot)


def excludes(one: Effect, other: Effect) -> bool:
    """One run does at most one of the two: they stand in different arms of an if."""
    for a, b in zip(levels(one), levels(other), strict=False):
        if a.function is not b.function:
            return False
        if is_sibling(a.function.events[a.position].block, b.function.events[b.position].block):
            return True
        if a.position != b.position:
            return False
    return False


def is_sure(one: Effect, other: Effect) -> bool:
    """Whenever `other` runs, `one` does: no test, loop or early return decides on `one` alone."""
    same = True
    for depth, a in enumerate(levels(one)):
        block = a.function.events[a.position].block
        beside = levels(other)[depth] if same and depth < len(levels(other)) else None
        if beside is not None and beside.function is a.function:
            if not encloses(block, beside.function.events[beside.position].block):
                return False
            same = beside.position == a.position
        else:
            same = False
            if block.branches or leaves_early(a.function, a.position):
                return False
    return True


def leaves_early(function: Function, position: int) -> bool:
    """A return or raise under a condition may come before event `position`."""
    return any(e.kind in ("return", "raise") and e.block.branches for e in function.events[:position])


def header_of(function: Function, loop: Loop) -> int:
    """Where a loop of the function begins among its events."""
    return next(n for n, e in enumerate(function.events) if e.kind in ("for", "while") and e.text == str(loop.id))


def branches_around(function: Function, loop: Loop | None) -> tuple[Branch, ...]:
    """Branches that a loop of the function stands in; () for a loop that is not in it."""
    if loop is None or loop.id >= len(function.loops) or function.loops[loop.id] is not loop:
        return ()
    return function.events[header_of(function, loop)].block.branches


def guards(function: Function, position: int, loop: Loop | None = None) -> Iterator[Expr]:
    """Tests that decide whether event `position` runs, inside `loop`: of the ifs around it, and of ifs that skip it."""
    event = function.events[position]
    outside = branches_around(function, loop)
    for branch in event.block.branches:
        if branch not in outside and (loop is None or function.events[position].block.loops):
            yield from branch.tests[: branch.arm + 1]
    for earlier in function.events[:position]:
        branches = earlier.block.branches
        if earlier.kind in ("continue", "return") and branches and earlier.block.loops == event.block.loops:
            if branches[-1] not in event.block.branches and branches[-1].test is not None:
                yield branches[-1].test


def unfolded(index: Index, expr: Expr, spot: Spot, depth: int = 4) -> Iterator[Expr]:
    """`expr` and all in it; a name also stands for what it was given, a call for what a project function returns."""
    for part in expr.walk():
        yield part
        if not depth:
            continue
        if part.kind == "path" and "." not in part.text:
            found, _ = reaching(spot.function, part.text, spot.position)
            for binding in found:
                is_given = binding.kind in ("assign", "augment") and binding.value is not expr
                if binding.value is not None and is_given:
                    yield from unfolded(index, binding.value, spot._replace(position=binding.position), depth - 1)
        elif part.kind == "call" and index.functions_named(part.last):
            for target in index.calling.run_by(part, spot):
                frame = index.frames.frame(target.function, part, spot, target.owner)
                for value, at in index.frames.returns(frame):
                    yield from unfolded(index, value, at, depth - 1)


def is_every_few(index: Index, test: Expr, spot: Spot) -> bool:
    """The test holds in one of several rounds: it counts by a modulo, or up to a number of micro-batches."""
    parts = tuple(unfolded(index, test, spot))
    if any(part.kind == "binary" and part.text == "%" for part in parts):
        return True
    compared = [part for part in parts if part.kind == "compare"]
    return any("accum" in name.text.lower() for part in compared for name in part.walk() if name.kind == "path")


def steps_optimizer(index: Index, effect: Effect) -> str:
    """Of a step: "sure" when what steps is an optimizer, "likely" by its name alone, "" otherwise."""
    optimizer = stepped(index, effect.expr, effect.spot) if effect.kind == "step" else None
    if optimizer is None:
        return ""
    things = index.objects.of(optimizer, effect.spot)
    if any(is_optimizer(index, thing) for thing in things):
        return "sure"
    known = any(isinstance(thing, Instance) for thing in things)
    return "likely" if sounds_like_optimizer(optimizer) and not known else ""
