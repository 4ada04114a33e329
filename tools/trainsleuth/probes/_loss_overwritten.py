"""Rule of loss_contract: of several losses that a line computes in a step only the last one is trained on."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding, Link
from trainsleuth.trace import Trace, place, shown

NEEDED_STEPS = 4
NEEDED = 3  # losses of one step


def only_the_last(trace: Trace) -> Iterator[Finding]:
    """The others had a graph, were read by nobody, and were gone when the backward came, at each step looked at."""
    for event in trace.events("loss_overwritten"):
        if event["alone"] < event["looks"] or event["looks"] < NEEDED_STEPS or event["least"] < NEEDED:
            continue
        path, line = place(event.get("site"))
        at, where = place(event["within"])
        through = f" (by way of {event['within']})" if at else ""
        yield Finding(
            by="probe:loss_contract", outcome="fail", severity="warning", confidence="high", family="loss", path=path, line=line,
            message=f"{shown(event)}{through} computes {event['least']} losses or more in a step, each with a graph, and only the last "
            f"one reaches the backward, at all {event['looks']} steps looked at: nothing read the others, and each was gone when the next "
            "came; expected their sum or mean (+= in place of =), or that the others are not computed",
            suspects=("loss-cut-from-graph",), chain=(Link(at, where, "computes one of them"),) if at and where else (),
            measured={"losses": event["least"], "steps": event["looks"], "trained_on": 1},
            next="add them up in the loop and run this probe again",
        )  # fmt: skip
