"""Rule of shapes: the largest value of an output is taken over another axis than that of the classes, so the measure is of something else."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding
from trainsleuth.trace import Trace, place, shown


def picked_over_another_axis(trace: Trace) -> Iterator[Finding]:
    for event in trace.events("picked"):
        path, line = place(event["site"])
        where = event["shape"].index(event["classes"])
        yield Finding(
            by="probe:shapes", outcome="fail", severity="note", confidence="medium", family="eval", path=path, line=line,
            message=f"the largest value is taken at {shown(event)} over axis {event['axis']} of {event['shape']}, what {event['cls']} gives, and its loss "
            f"takes axis {where}, of length {event['classes']}, for the classes: what is counted there is no predicted class; is axis {where} meant?",
            measured={"axis": event["axis"], "axis_of_classes": where}, suspects=("wrong-axis-or-mask",),
            next=f"take argmax({where}), and see what the measure says then", claims=("visualise-right-before-model",),
        )  # fmt: skip
