"""Rule of activations: a recurrent layer is given one step after the other, and begins each from the same state."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding
from trainsleuth.trace import Event, Trace, place, shown

NEEDED_CALLS = 5  # in one call of the model
NEEDED_LOOKS = 2


def same_state(trace: Trace) -> Iterator[Finding]:
    """What it gives back as its state is lost. Candidates that are each tried from one state look the same, so it asks."""
    seen: dict[tuple[int, str], list[Event]] = {}
    for event in trace.events("states"):
        seen.setdefault((event["root"], event["name"]), []).append(event)
    for events in seen.values():
        first = events[0]
        if len(events) < NEEDED_LOOKS or any(
            one["calls"] < NEEDED_CALLS or one["same"] < one["calls"] - 1 for one in events
        ):
            continue
        path, line = place(first.get("site"))
        yield Finding(
            by="probe:activations", outcome="fail", severity="note", confidence="medium", family="architecture", path=path, line=line,
            message=f"{first['name']} of {first['cls']}, called at {shown(first)}, gets one step at a time and the same state in all {first['calls']} calls of a pass, so that it "
            "knows nothing of the steps before: is the state that it gives back to be handed to its next call?",
            measured={"calls": first["calls"], "same_state": first["same"] + 1}, suspects=("another-model-fault",),
            next="look at the names that its state is assigned to, and at those that are given to it",
        )  # fmt: skip
