"""Rule of activations: lines that give one and the same number whatever goes in."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding
from trainsleuth.trace import Trace, place, shown

MOST = 3  # lines that are told


def always_the_same(trace: Trace) -> Iterator[Finding]:
    """It asks: a term may be without effect on purpose."""
    for event in trace.events("constant")[:MOST]:
        path, line = place(event["site"])
        operation = event["op"].strip("_")
        yield Finding(
            by="probe:activations", outcome="fail", severity="note", confidence="low", family="loss", path=path, line=line,
            message=f"{_WORDS.get(operation, operation)} at {shown(event)} gives {event['value']:.4g} in every place "
            f"(shape {event['shape']}) at each of the {event['looks']} steps looked at, though what goes in differs: whatever builds on it "
            f"counts for nothing. Is that meant{_AS.get(operation, '')}?",
            suspects=("another-loss-fault", "input-does-not-matter"), measured={"value": event["value"], "looks": event["looks"]},
            next="print what goes in: are the two sides of a difference or quotient the same thing, is an axis of length one reduced, does a limit "
            "or a mask take everything?",
        )  # fmt: skip


_AS = {"sub": ", as of a policy and itself in a single pass"}
_WORDS = {
    "sub": "the difference", "rsub": "the difference", "mul": "the product", "rmul": "the product", "truediv": "the quotient",
    "true_divide": "the quotient", "div": "the quotient", "rtruediv": "the quotient", "pow": "the power",
}  # fmt: skip
