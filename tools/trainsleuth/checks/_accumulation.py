"""Loops that add up the gradients of several micro-batches before one step."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import (
    Effect,
    Expr,
    Index,
    Spot,
    Surrounding,
    branches_around,
    guards,
    is_every_few,
    is_test,
    steps_optimizer,
    surroundings,
)

_DIVIDING = ("accumulate", "no_sync")  # contexts in which a framework counts and divides by itself


def accumulations(index: Index) -> Iterator[tuple[Surrounding, Expr]]:
    """Every optimizer step that runs in one of several rounds of its loop while each round goes backward, and the
    test that lets it.
    """
    for site in index.calls("step"):
        spot = Spot(site.function, site.position)
        if is_test(site.function.path) or not steps_optimizer(
            index, Effect("step", "", site.position, spot, site.call)
        ):
            continue
        if _is_behind_loop(index, spot):
            continue
        for around in surroundings(index, spot, site.call, "backward"):
            test = _counting(index, around)
            if test is not None and _is_plain(index, around):
                yield around, test
                break


def _is_behind_loop(index: Index, spot: Spot) -> bool:
    """A loop of its own adds up the gradients: what steps behind it uses the rest of them."""
    events = spot.function.events
    outer = events[spot.position].block.loops
    deeper = {
        position
        for position, event in enumerate(events[: spot.position])
        if len(event.block.loops) > len(outer) and event.block.loops[: len(outer)] == outer and event.calls
    }
    return bool(deeper) and any(e.kind == "backward" and e.position in deeper for e in index.effects.of(spot.function))


def _counting(index: Index, around: Surrounding) -> Expr | None:
    """The test that counts micro-batches, on the way from the loop to the step."""
    for spot in (*around.here.trail, around.here.spot):
        for test in guards(spot.function, spot.position, around.loop):
            if is_every_few(index, test, spot):
                return test
    return None


def _is_plain(index: Index, around: Surrounding) -> bool:
    """One optimizer steps in the loop, each round goes backward, and no framework counts."""
    events = around.function.events
    contexts = events[around.here.position].block.contexts
    stepping = {e.receiver for e in around.effects if steps_optimizer(index, e)}
    backwards = [e for e in around.effects if e.kind == "backward"]
    return (
        len(stepping) == 1
        and all(is_in_each_round(around, e) for e in backwards)
        and not any(context.last in _DIVIDING for context in contexts)
    )


def is_in_each_round(around: Surrounding, effect: Effect) -> bool:
    """No test inside the loop decides whether it happens."""
    own = around.function.events[effect.position].block
    if own.branches[len(branches_around(around.function, around.loop)) :]:
        return False
    if any(True for _ in guards_in(around, effect)):
        return False
    inner = (*effect.trail[1:], effect.spot) if effect.trail else ()
    return all(not spot.function.events[spot.position].block.branches for spot in inner)


def guards_in(around: Surrounding, effect: Effect) -> Iterator[Expr]:
    """Tests that skip the rest of the round before `effect`."""
    event = around.function.events[effect.position]
    for test in guards(around.function, effect.position, around.loop):
        if not any(test in branch.tests for branch in event.block.branches):
            yield test
