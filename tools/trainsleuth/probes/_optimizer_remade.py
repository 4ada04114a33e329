"""Rule of step_trace: an optimizer is built anew for each step, so that nothing it keeps of one reaches the next."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding
from trainsleuth.trace import Trace, shown

from ._step_words import finding

NEEDED = 10  # optimizers in a row


def built_for_each_step(trace: Trace) -> Iterator[Finding]:
    """Over parameters that stay what the last one made of them. Where epochs were cut short, what each builds once looks
    the same, so steps count up to the first cut.
    """
    cut = min((event["n"] for event in trace.events("cut")), default=trace.steps + 1)
    for event in trace.events("remade"):
        seen = min(event["length"], cut - event["n"])
        if seen < NEEDED:
            continue
        yield finding(
            event,
            f"{event['cls']} is built anew at {shown(event)} for each step: {event['length']} of them in a row held the same "
            f"{event['parameters']} parameter tensors, and each stepped once from an empty state, where the one before had stopped; so "
            "moments, momentum and step count are lost each time; expected one optimizer that is built before the loop",
            "another-loop-fault",
            measured={"built": event["length"], "steps_of_each": 1, "parameters": event["parameters"]},
            next="build it once where the model is built, and set the rate by a schedule or in param_groups",
        )
