"""Rule of loss_contract: inputs are filled up on one side, their labels on the other, so that each label stands beside another token."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding
from trainsleuth.trace import Trace, shown

from ._loss_words import failure

ROWS = 8  # filled up on opposite sides, at least
SHARE = 0.1  # of those and the rows filled up on one side
LENGTHS = 3  # of the filling, at least: that they agree is no chance


def padded_apart(trace: Trace) -> Iterator[Finding]:
    """The filling is as long in both, row by row: the content is the same, and stands elsewhere."""
    for event in trace.events("padded_sides"):
        opposite, same = event["opposite"], event["same"]
        if opposite < ROWS or opposite < SHARE * (opposite + same) or event["lengths"] < LENGTHS:
            continue
        if event["otherwise"] > SHARE * opposite:
            continue
        others = f", in the other {same} on the same side" if same else ""
        yield failure(
            event,
            f"{event['fn']} at {shown(event)}: in {opposite} of {opposite + same} rows the inputs are filled up on one side and their labels on the "
            f"other, by as many places{others}: each label stands beside a token that is not its own; expected padding on the same side",
            "targets-misaligned-with-inputs",
            severity="warning",
            measured={"opposite": opposite, "same": same, "lengths": event["lengths"]},
            next="look where inputs and labels are padded: is the side, or the mode of padding, given to one of them alone?",
        )
