"""What a score is computed from: the expressions behind it, and the data loaders that are gone over for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..data.loaders import Loader, loaders_gone_over
from ..records import Expr, Function, Loop
from ..tracing.making import bound_names, derived, makers, mentions
from ..tracing.things import Spot
from .order import header_of

if TYPE_CHECKING:
    from ..index import Index


def behind_score(index: Index, score: Expr, spot: Spot, depth: int = 2) -> Iterator[tuple[Expr, Spot]]:
    """Expressions that the score is made of: stats = test(...) behind float(stats["acc"])."""
    for made, at in makers(index, score, spot):
        yield made, at
        names = [part for part in made.walk() if part.kind == "path"]
        runs = any(part.kind == "call" and index.may_run(part, at.function) for part in made.walk())
        for name in names if depth and not runs and made.kind != "path" else ():
            yield from behind_score(index, name, at, depth - 1)


def loaders_behind(index: Index, made: Expr, at: Spot) -> Iterator[Loader]:
    """The loaders that are gone over to compute it: in the function that gives it back, or in the one that it stands in."""
    targets = [(call, one) for call in made.walk() if call.kind == "call" for one in index.calling.run_by(call, at)]
    for call, target in targets:
        frame = index.frames.frame(target.function, call, at, target.owner)
        for loop in _loops(target.function):
            yield from _of_loop(index, loop, Spot(target.function, header_of(target.function, loop), frame))
    for loop in reversed(_loops(at.function)) if not targets else ():
        start = header_of(at.function, loop)
        if loop.end_line < made.line and mentions(made, _computed(at.function, loop, start, at.position)):
            if found := list(_of_loop(index, loop, Spot(at.function, start, at.frame))):
                yield from found
                return


def _loops(function: Function) -> list[Loop]:
    return [loop for loop in function.loops if loop.kind == "for" and loop.source is not None]


def _computed(function: Function, loop: Loop, start: int, end: int) -> frozenset[str]:
    inside = [event for event in function.events[start + 1 :] if event.line <= loop.end_line]
    return derived(function, {name for event in inside for name in bound_names(event)}, start, end)


def _of_loop(index: Index, loop: Loop, spot: Spot) -> Iterator[Loader]:
    yield from loaders_gone_over(index, loop.source, spot, wrappers=2) if loop.source is not None else ()
