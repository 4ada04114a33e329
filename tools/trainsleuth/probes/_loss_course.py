"""The course of the loss over the steps: it sinks without end, grows without end, or stands still."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from statistics import fmean

from trainsleuth.finding import Finding
from trainsleuth.trace import Event, Trace, shown

from ._loss_words import failure

NEEDED_TO_STAND = 30  # steps
ROUNDING = 1e-6  # of the loss
NEEDED_TO_FALL = 30  # steps before a sinking loss is judged
FAR_BELOW = 10.0  # times the first magnitude
BEYOND = 1e4  # times the first magnitude, below zero: no log-likelihood of a batch falls so far
LARGE_NEGATIVE = 1.0  # a first loss below its negative was likely a positive one that lost its sign
NEEDED_TO_GROW = 60  # steps
# times the first value: that of a value network grows with the returns, a commitment from next to nothing
FAR_ABOVE = 1000.0
LARGE = 100.0  # and by itself
PARTS = 6  # of the run: in each of the last RISING the loss is FASTER times that of the part before
RISING = 3  # a reward that is met at last makes one leap
FASTER = 2.0  # the square of what grows evenly comes to 1.65 and 1.49 at the last two


def grows_without_bound(trace: Trace, graphs: tuple[Event, ...]) -> Iterator[Finding]:
    """What the backwards start from, never below zero, multiplies and goes on to."""
    values = _values(trace)
    if len(values) < NEEDED_TO_GROW or not graphs or min(values) < 0:
        return
    size = len(values) // PARTS
    parts = [fmean(values[-size * place :][:size]) for place in range(RISING + 1, 0, -1)]
    first, last = fmean(values[:3]), parts[-1]
    if first <= 0 or last < max(LARGE, FAR_ABOVE * first):
        return
    if any(later < FASTER * earlier for earlier, later in pairwise(parts)):
        return
    place_of = {"site": graphs[0]["combined"] or graphs[0]["site"], "fn": "the loss"}
    yield failure(
        place_of,
        f"the loss that {shown(place_of)} starts from grows from {first:.4g} to {last:.4g} in {len(values)} steps and goes on: training "
        "diverges; expected it to fall",
        "learning-rate-too-high",
        severity="warning",
        confidence="medium",
        measured={"first": first, "last": last, "steps": len(values)},
        next="divide the rate by ten: if the loss grows all the same, a term or an update has the wrong sign",
    )


def falls_without_bound(trace: Trace, graphs: tuple[Event, ...]) -> Iterator[Finding]:
    """The value that backward starts from sinks ever faster, by far more than its first magnitude, or beyond all measure."""
    values = _values(trace)
    if len(values) < NEEDED_TO_FALL or not graphs:
        return
    third = len(values) // 3
    middle, last = fmean(values[third : 2 * third]), fmean(values[-third:])
    first = fmean(values[:3])
    if first <= 0 and (-first < LARGE_NEGATIVE or len(trace.stepping) > 1):
        return  # policies and densities have losses around zero
    if last > -LARGE_NEGATIVE:
        return
    faster = (middle - last) >= (fmean(values[:third]) - middle)
    if first - last < (1 + FAR_BELOW) * abs(first) or not (faster or last < -BEYOND * max(1.0, abs(first))):
        return
    place_of = {"site": graphs[0]["combined"] or graphs[0]["site"], "fn": "the sum of the terms"}
    yield failure(
        place_of,
        f"the loss put together at {shown(place_of)} falls from {first:.4g} to {values[-1]:.4g} in {len(values)} steps"
        f"{' and ever faster' if faster else ''}: one of its terms has no lower bound, as with a wrong sign or a penalty that does not hold; expected it to level off",
        "loss-below-bound",
        severity="warning",
        confidence="medium",
        measured={"first": first, "last": values[-1], "steps": len(values)},
        next="print each term of the sum: the one that sinks has the wrong sign, or lacks what is to hold it",
    )


def stands_still(trace: Trace, graphs: tuple[Event, ...]) -> Iterator[Finding]:
    """The value that backward starts from is the same in every step, but for rounding, whatever is trained."""
    values = _values(trace)
    if len(values) < NEEDED_TO_STAND or not graphs:
        return
    low, high = min(values), max(values)
    # terms that cancel each other; or a reward that is still to come, advantages whose mean is 0
    is_nothing = low <= 0 <= high and high - low < ROUNDING
    if high - low > ROUNDING * abs(fmean(values)) and not is_nothing:
        return
    place_of = {"site": graphs[0]["site"], "fn": "the loss"}
    yield failure(
        place_of,
        f"the loss that {shown(place_of)} starts from is {values[0]:.6g} in all {len(values)} steps seen, to six digits: it does not depend on what is "
        "trained; expected it to move with the batches and the weights",
        "loss-cut-from-graph",
        severity="note" if is_nothing else "warning",
        confidence="low" if is_nothing else "medium",
        measured={"value": values[0], "steps": len(values)},
        next="follow the model's output into the loss: a sum or softmax over the wrong axis, or a term that cancels, leaves nothing of it",
    )


def _values(trace: Trace) -> list[float]:
    """Of each step the mean of what its backwards start from; steps with a value that is no number are left out."""
    losses = (tick["losses"] for tick in trace.events("tick"))
    return [fmean(one) for one in losses if one and all(isinstance(value, float) for value in one)]
