"""Rule of loss_contract: two players push the score of what one of them makes the same way."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding
from trainsleuth.trace import Event, Trace, shown

from ._loss_words import failure

NEEDED_STEPS = 6  # of each player
SURE = 0.95  # of the gradients of each, over all steps


def pull_together(trace: Trace) -> Iterator[Finding]:
    """Each step of the critic lowers what it says of made examples, or each raises it, and so does each step of the maker. One that takes
    two things may tell how much they have in common, which both are to raise: it asks.
    """
    for event in trace.events("opponents"):
        if (
            min(event["own"], event["its"]) < NEEDED_STEPS
            or _way(event, "own") != _way(event, "its")
            or not _way(event, "own")
        ):
            continue
        way, asks = _way(event, "own"), event["inputs"] > 1
        yield failure(
            {**event, "fn": "the score"},
            f"{event['scorer']} and {event['maker']} are trained in turns, and the steps of both push the score that {event['scorer']} gives at {shown(event)} to what "
            f"{event['maker']} makes {way}, in all of {event['own']} and {event['its']} steps: they do not work against each other; expected the one to lower what the "
            "other raises",
            "another-loss-fault",
            severity="note" if asks else "warning",
            confidence="low" if asks else "medium",
            measured={"steps": event["own"], "steps_of_maker": event["its"], "positive": round(event["own_up"], 3), "positive_of_maker": round(event["its_up"], 3)},
            next="look at the signs, or at the labels for real and made examples, in both losses: one of them is the wrong way round",
        )  # fmt: skip


def _way(event: Event, player: str) -> str:
    low, high = event[f"{player}_range"]
    return "down" if low >= SURE else "up" if high <= 1 - SURE else ""
