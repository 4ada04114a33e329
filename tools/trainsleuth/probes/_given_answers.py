"""Rule of loss_contract: the loss counts only the places whose answer the model is given, and leaves out those that are hidden from it."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding
from trainsleuth.trace import Trace, shown

from ._loss_words import failure

NEEDED = 200  # places that count
ALL, FEW = 0.98, 0.2  # of the places that count, and of those that do not, whose label the model is given there
MASKED = 0.6  # of the places that do not count, at least: those with one token
VARIED = 0.5  # at most: those with one label
LEFT = 0.02  # of all places, that do not count


def only_what_is_given(trace: Trace) -> Iterator[Finding]:
    """Masked prediction with its mask turned round: the hidden places are those that were to be learned."""
    for event in trace.events("given_answers"):
        counted, left = event["counted"], event["left"]
        if counted < NEEDED or left < LEFT * (counted + left) or event["losses"] > 1:
            continue
        if event["one_token"] < MASKED or event["one_label"] > VARIED:
            continue  # not hidden behind a token of their own, or filled up alike
        if event["given"] >= ALL * counted and event["left_given"] <= FEW * left:
            yield failure(
                event,
                f"{event['fn']} at {shown(event)} counts {counted} labels in {event['calls']} calls, of which {event['given'] / counted:.1%} stand in what the model is "
                f"given, at the same place, and leaves out {left} of which {event['left_given'] / left:.1%} do: it learns to repeat what it sees, and nothing of what "
                "is hidden from it; expected the hidden places to count",
                "another-loss-fault",
                severity="warning",
                measured={
                    "counted": counted,
                    "given": event["given"],
                    "left_out": left,
                    "given_of_these": event["left_given"],
                },
                next="look at the mask that weighs the loss: is it == where != is meant, or the other way round?",
            )
