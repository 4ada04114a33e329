"""Rule of learning_rate about passes over the data: does the rate begin anew with each?"""

from __future__ import annotations

from collections.abc import Sequence

from trainsleuth.finding import Finding
from trainsleuth.trace import Trace, place

NEEDED = 3  # steps of a pass, and different rates in them
ENDED = 0.11  # of the highest rate: a cycle that has come down to it before it begins again is meant


def begins_anew(trace: Trace, optimizer: int, rates: Sequence[float]) -> Finding | None:
    """Each pass has the rates of the first, step for step, though the first had brought the rate elsewhere.

    One schedule of torch that goes on counting does that on purpose; by hand it may be meant too, so it is a note.
    """
    rate_at = {tick["n"] - 1: rate for tick, rate in zip(trace.events("tick"), rates, strict=True)}
    for event in trace.events("passes"):
        passes = [[step for step in range(start, last + 1) if step in rate_at] for start, last in event["passes"]]
        passes = [steps for steps in passes if len(steps) >= NEEDED]
        if len(passes) < 2 or _is_a_schedule_that_counts(trace, optimizer, passes[1][0]):
            continue
        first, *later = [[rate_at[step] for step in steps] for steps in passes]
        was_whole = not any(cut["trains"] and cut["n"] == passes[0][-1] + 1 for cut in trace.events("cut"))
        if not all(_repeats(first, again) for again in later) or (was_whole and first[-1] <= ENDED * max(first)):
            continue
        step = next(op for op in trace.ops("step") if op["optimizer"] == optimizer)
        path, line = place(step.get("site"))
        return Finding(
            by="probe:learning_rate", outcome="fail", severity="note", confidence="medium", family="optimizer", path=path, line=line,
            message=f"the learning rate begins anew with each pass over the data: it goes from {first[0]:.4g} to {first[-1]:.4g} in the "
            f"{len(first)} steps of the first, jumps back to {later[0][0]:.4g} at step {passes[1][0]} and takes the same values again "
            f"({len(later[0])} steps seen); expected it to go on from where it was, unless restarts are meant",
            suspects=("another-loop-fault",), measured={"first": first[0], "last": first[-1], "passes": len(passes)},
            next="look whether the step that the rate is computed from counts over all epochs: epoch * batches + batch, not batch alone",
        )  # fmt: skip
    return None


def _repeats(first: Sequence[float], again: Sequence[float]) -> bool:
    most = min(len(first), len(again))
    is_same = list(first[:most]) == list(again[:most])
    return is_same and len(set(first[:most])) >= NEEDED and first[-1] != again[0]


def _is_a_schedule_that_counts(trace: Trace, optimizer: int, step: int) -> bool:
    """It was built before the second pass, and none was built since."""
    born = [event["n"] for event in trace.events("schedule_born") if event["optimizer"] == optimizer]
    return bool(born) and max(born) < step
