"""Rules of a step: gradients that are cleared before any step has used them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from trainsleuth.finding import Finding
from trainsleuth.trace import Event, Trace, shown

from ._step_words import finding, links

NEEDED = 4  # steps
ROUNDS = 3  # of several players, behind the first


def cleared_unused(trace: Trace) -> Iterator[Finding]:
    """One line goes backward for each batch of a loader, and what it wrote is cleared before the next, with no step between.

    Where parameters moved in between, or other gradients than the last backward left are stepped on, they were used by hand.
    """
    if len(trace.stepping) != 1:
        return
    (number,) = trace.stepping
    cycles = [cycle for cycle in list(trace.cycles(number))[1:] if _is_judged(cycle, number)]
    if len(cycles) < NEEDED or not all(_wastes(cycle, number) for cycle in cycles):
        return
    counts = [sum(op["op"] == "backward" for op in cycle) for cycle in cycles]
    first = next(op for op in cycles[0] if op["op"] == "backward")
    clears = next(op for op in cycles[0][cycles[0].index(first) :] if op["op"] == "zero_grad")
    step = cycles[0][-1]
    yield finding(
        clears,
        f"zero_grad at {shown(clears)} clears what the backward at {shown(first)} wrote before any step has used it: {max(counts)} batches "
        f"go backward for each step at {shown(step)}, and only the gradients of the last reach it, at all {len(cycles)} steps looked at; "
        "expected the clearing once for each step, so that they are summed",
        "step-order",
        severity="warning",
        chain=links((first, "writes gradients"), (clears, "clears them"), (step, "steps on those of the last batch")),
        measured={"backwards_for_each_step": max(counts), "used": 1, "steps": len(cycles)},
        next="clear after the step, under its condition, and divide each loss by the number of batches",
        claims=("zero-grad-position-variants", "accumulation-divide"),
    )


def thrown_away(trace: Trace) -> Iterator[Finding]:
    """Of players that step in turns one goes backward, writes gradients for another alone, and they are cleared unused.

    Somebody may have read them by hand, so it asks.
    """
    if len(trace.stepping) < 2:
        return
    ops = trace.ops()
    rounds = [
        one for one in list(trace.cycles(trace.stepping[-1]))[1:] if all(op["grads"] for op, _ in _backwards(one))
    ]
    wasted = [[place for place, one in enumerate(_backwards(own)) if _is_unused(one, ops)] for own in rounds]
    if len(rounds) < ROUNDS or not wasted[0] or any(places != wasted[0] for places in wasted):
        return
    for backward, reached in (_backwards(rounds[0])[place] for place in wasted[0]):
        behind = _behind(ops, backward)
        clears = next(op for op in behind if op["op"] == "zero_grad" and reached[0] in _cleared(op))
        step = next(op for op in behind if op["op"] == "step")
        born = trace.optimizer(reached[0])
        yield finding(
            backward,
            f"a backward at {shown(backward)}, before the step at {shown(step)}, writes gradients only for the {born.get('cls')} made at {shown(born)}, "
            f"and zero_grad at {shown(clears)} clears them before that one steps, in all {len(rounds)} rounds looked at: it trains nothing. Is a "
            "tensor detached there that should lead to the one that steps next?",
            "step-order",
            severity="note",
            chain=links((backward, "writes gradients"), (step, "steps, and has none of them"), (clears, "clears them")),
            measured={"rounds": len(rounds)},
            next="look for detach(), item() or no_grad() between what is to learn from this loss and the loss",
        )


def wiped_out(trace: Trace) -> Iterator[Finding]:
    """A line goes backward, another clears what it wrote, and a third goes backward and is stepped on: as where a function that is called in
    between uses gradients of its own. Somebody may have read them by hand, so it asks.
    """
    if len(trace.stepping) != 1:
        return
    (number,) = trace.stepping
    cycles = [cycle for cycle in list(trace.cycles(number))[1:] if _is_judged(cycle, number)]
    found = [_wiped(cycle, number) for cycle in cycles]
    places = {(one[0]["site"], one[1]["site"]) for one in found if one is not None}
    if len(cycles) < NEEDED or None in found or len(places) != 1:
        return
    backward, clears, later = found[0] or ({}, {}, {})
    step = cycles[0][-1]
    yield finding(
        clears,
        f"zero_grad at {shown(clears)} clears what the backward at {shown(backward)} wrote before the step at {shown(step)} has used it, at all {len(cycles)} steps looked "
        f"at; only the backward at {shown(later)} is stepped on. Is the first of the two to train as well?",
        "step-order",
        severity="note",
        confidence="low",
        chain=links(
            (backward, "writes gradients"),
            (clears, "clears them"),
            (later, "writes those that are stepped on"),
            (step, "steps"),
        ),
        measured={"steps": len(cycles)},
        next="add the two losses and go backward once, behind what uses gradients of its own",
    )


def _wiped(cycle: Sequence[Event], number: int) -> tuple[Event, Event, Event] | None:
    """(backward of parameters alone, what clears it, the next backward from another line) before the step, the weights not having moved."""
    places = [place for place, op in enumerate(cycle) if op["op"] == "backward"]
    if len(places) < 2 or not cycle[-1].get("as_left") or any(op["op"] == "autograd_grad" for op in cycle):
        return None
    first, *others = (cycle[place] for place in places)
    later = others[-1]
    clears = [
        op
        for op in cycle[places[0] : places[-1]]
        if op["op"] == "zero_grad" and number in (op.get("optimizer"), *_cleared(op))
    ]
    reached = any(number in op.get("reached", ()) for op in cycle[places[0] :] if op["op"] == "backward_done")
    weights = {op["weights"].get(str(number)) for op in (first, later)}
    is_of_weights = not first.get("elsewhere") and not later.get("elsewhere")
    if (
        not clears
        or not reached
        or not is_of_weights
        or len(weights) != 1
        or None in weights
        or first["site"] == later["site"]
    ):
        return None
    loaders = {op.get("loader") for op in cycle if op["op"] == "batch"}
    return (
        (first, clears[-1], later) if len(loaders) <= 1 or all(one["site"] != first["site"] for one in others) else None
    )


def _backwards(cycle: Sequence[Event]) -> list[tuple[Event, tuple[int, ...]]]:
    """Each backward with the optimizers that it reached."""
    found: list[tuple[Event, tuple[int, ...]]] = []
    for op in cycle:
        if op["op"] == "backward":
            found.append((op, ()))
        elif op["op"] == "backward_done" and found:
            found[-1] = found[-1][0], tuple(op.get("reached", ()))
    return found


def _behind(ops: Sequence[Event], op: Event) -> Sequence[Event]:
    return ops[next(place for place, one in enumerate(ops) if one is op) + 1 :]


def _is_unused(backward: tuple[Event, tuple[int, ...]], ops: Sequence[Event]) -> bool:
    """All that it reached is parameters, each cleared before it is stepped on, and another optimizer steps first."""
    op, reached = backward
    if op.get("elsewhere"):  # as to an input that is to be changed by its gradient
        return False
    behind = _behind(ops, op)
    step = next((one for one in behind if one["op"] == "step"), None)
    if not reached or step is None or step["optimizer"] in reached:
        return False
    for number in reached:
        used = (
            one
            for one in behind
            if one["op"] in ("step", "zero_grad") and number in (one.get("optimizer"), *_cleared(one))
        )
        if (first := next(used, None)) is None or first["op"] == "step":
            return False
    return True


def _cleared(op: Event) -> tuple[int, ...]:
    if op["op"] != "zero_grad":
        return ()
    return tuple(op["optimizers"]) if "optimizer" not in op else (int(op["optimizer"]),)


def _is_judged(cycle: Sequence[Event], number: int) -> bool:
    """Were the gradients of this optimizer looked at in each backward?"""
    backwards = [op for op in cycle if op["op"] == "backward"]
    return bool(backwards) and all(str(number) in (op.get("grads") or {}) for op in backwards)


def _wastes(cycle: Sequence[Event], number: int) -> bool:
    places = [place for place, op in enumerate(cycle) if op["op"] == "backward"]
    backwards = [cycle[place] for place in places]
    weights = {op["weights"].get(str(number)) for op in backwards}
    loaders = {op.get("loader") for op in cycle if op["op"] == "batch"}
    return (
        len(places) > 1
        and len(loaders) == 1  # another one may hold what is to be remembered, or examples to compare with
        and len({op["site"] for op in backwards}) == 1
        and len(weights) == 1
        and None not in weights
        and bool(cycle[-1].get("as_left"))
        and all(_is_cleared_between(cycle[one:other], number) for one, other in pairwise(places))
        and all(op["grads"][str(number)] != "some" for op in backwards)
    )


def _is_cleared_between(ops: Sequence[Event], number: int) -> bool:
    """From a backward on to the next, which is of another batch."""
    names = [op["op"] for op in ops]
    reached = any(number in op.get("reached", ()) for op in ops if op["op"] == "backward_done")
    cleared = any(
        number == op.get("optimizer") or number in op.get("optimizers", ()) for op in ops if op["op"] == "zero_grad"
    )
    return reached and cleared and "batch" in names and not {"scaler_step", "autograd_grad"} & set(names)
