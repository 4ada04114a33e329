"""Rule of batch_as_seen: the examples stand along one axis where the model is trained, and along another where it is evaluated."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding, Link
from trainsleuth.trace import Trace, place, shown

NEEDED = 3  # calls of each


def turned_in_evaluation(trace: Trace) -> Iterator[Finding]:
    told = set()
    for event in trace.events("batch_axes"):
        train, evaluation = (dict(event[role]) for role in ("train", "eval"))
        if len(train) != 1 or len(evaluation) != 1 or train.keys() == evaluation.keys() or event["root"] in told:
            continue
        if min(*train.values(), *evaluation.values()) < NEEDED:
            continue
        told.add(event["root"])
        (axis,), (other,) = train, evaluation
        (path, line), (trained_path, trained_line) = place(event.get("site")), place(event.get("trained_at"))
        shape, turned = event["shapes"]
        trained = (
            (Link(trained_path, trained_line, f"the training call, with {shape}"),)
            if trained_path and trained_line
            else ()
        )
        yield Finding(
            by="probe:batch_as_seen", outcome="fail", severity="warning", confidence="medium", family="eval", path=path, line=line, chain=trained,
            message=f"{event['cls']} at {shown(event)} is evaluated on {turned}, where the examples of a batch stand along axis {other}, and trained on "
            f"{shape}, where they stand along axis {axis}: the axes are the other way round; expected the same order in both",
            measured={"axis_in_training": axis, "axis_in_evaluation": other}, suspects=("preprocessing-mismatch",),
            next="print the shape of the model's input in both loops, and put the axes into one order (transpose, permute, batch_first)",
            claims=("visualise-right-before-model",),
        )  # fmt: skip
