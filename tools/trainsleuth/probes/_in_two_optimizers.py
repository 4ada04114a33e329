"""Rule of parameter_table: all that one optimizer holds another holds as well, and the two step in turns."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from trainsleuth.finding import Finding, Link
from trainsleuth.trace import Trace, place, shown

from ._parameters import fail

TURNS = 4  # changes from one to the other and back


def held_by_both(trace: Trace) -> Iterator[Finding]:
    """Of players that work against each other the steps of one then move the other too. A shared part is none: each has more."""
    steps = [int(op["optimizer"]) for op in trace.ops("step")]
    for event in trace.events("held_by_both"):
        one, other = event["optimizer"], event["other"]
        mine = [number for number in steps if number in (one, other)]
        if sum(before != after for before, after in pairwise(mine)) < TURNS:
            continue
        inner, outer = trace.optimizer(one), trace.optimizer(other)
        path, line = place(inner.get("site"))
        yield fail(
            outer.get("site"),
            f"all {event['parameters']} parameters of the {inner.get('cls')} built at {shown(inner)} are among the {event['of']} of the {outer.get('cls')} built at "
            f"{shown(outer)}, and the two step in turns: each step of the second moves the parameters of the first too. Is each meant to have its own?",
            "another-loop-fault",
            severity="note",
            confidence="medium",
            chain=(Link(path, line, "builds the other optimizer"),) if path and line else (),
            measured={"parameters": event["parameters"], "of": event["of"]},
            next="build the second over the parameters of its own network",
            claims=("updates-not-applied",),
        )
