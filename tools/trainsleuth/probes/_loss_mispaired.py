"""Rule of loss_contract: the loss is the same for targets of other examples, so nothing of the pairs was learned."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding
from trainsleuth.trace import Event, Trace, place, shown

NEEDED_STEPS = 60
NEEDED = 25  # calls that were compared
SAME = 2.0  # standard errors
SMALL = 0.01  # of the loss: a gap that is clear, and still next to nothing
MANY_CLASSES = 1000  # as the words of a language, of which how often each comes is learned first


def pairs_that_do_not_matter(trace: Trace) -> Iterator[Finding]:
    """Of programs that step a single optimizer: a player's loss may be meant to fail."""
    last = {(event["fn"], event["site"], event["lib"]): event for event in trace.events("mispaired")}
    for event in last.values() if len(trace.stepping) == 1 else ():
        if (
            event["n"] >= NEEDED_STEPS
            and event["compared"] >= NEEDED
            and event["unlike"]
            and event["classes"] < MANY_CLASSES
        ):
            if _are_same(event):
                yield _finding(event)


def _are_same(event: Event) -> bool:
    real, mixed, error = (event[name] for name in ("real", "mixed", "error"))
    if not (isinstance(real, float) and isinstance(mixed, float) and isinstance(error, float)):  # "nan", "inf"
        return False
    return abs(mixed - real) <= SAME * error or 0 <= mixed - real < SMALL * abs(mixed)


def _finding(event: Event) -> Finding:
    path, line = place(event.get("site"))
    began = f" (it began at {event['first']:.4g})" if isinstance(event["first"], float) else ""
    return Finding(
        by="probe:loss_contract", outcome="fail", severity="note", confidence="low", family="data", path=path, line=line,
        message=f"{event['fn']} at {shown(event)} cannot tell the pairs apart: after {event['n']} steps its loss is {event['real']:.4g}, and "
        f"{event['mixed']:.4g} when the targets of a batch go to other examples{began}. Do the targets belong to the inputs that they come "
        "with, or was too little learned yet?",
        suspects=("targets-misaligned-with-inputs", "input-does-not-matter"), claims=("labels-shuffled-together",),
        measured={"real": event["real"], "mixed": event["mixed"], "error": event["error"], "compared": event["compared"]},
        next="look at what sorts, shuffles or joins inputs or targets alone; trainsleuth probe --only label_pairing -- <your command> decides",
    )  # fmt: skip
