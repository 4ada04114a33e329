"""Rule of loss_contract: the loss lowers the score of each example's label, so that it learns to be wrong."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding
from trainsleuth.trace import Trace, place, shown

NEEDED = 15  # backwards
NEARLY_ALL = 0.9  # of the rows whose label gets a gradient


def against_labels(trace: Trace) -> Iterator[Finding]:
    """Of programs that step a single optimizer: a judge and its forger push against each other."""
    last = {event["root"]: event for event in trace.events("label_gradients")}
    for event in last.values() if len(trace.stepping) == 1 else ():
        rows = event["up"] + event["down"]
        if event["backwards"] >= NEEDED and rows and event["down"] >= NEARLY_ALL * rows:
            path, line = place(event.get("site"))
            doubt = "" if event["direct"] else ", unless the smallest is the best, as of distances"
            yield Finding(
                by="probe:loss_contract", outcome="fail", severity="note" if doubt else "warning", confidence="low" if doubt else "medium", family="loss", path=path, line=line,
                message=f"the loss lowers the scores that {event['cls']} called at {shown(event)} gives to the labels of its batch: of {rows} rows in "
                f"{event['backwards']} backwards the gradient pushes the label's score down in {event['down']}; expected it to push nearly all up{doubt}",
                suspects=("loss-below-bound", "wrong-loss-choice"),
                measured={"rows": rows, "down": event["down"], "backwards": event["backwards"]},
                next="look for a wrong sign, or a weight that is large where the label is likely (1 - p is meant where p stands)",
            )  # fmt: skip
