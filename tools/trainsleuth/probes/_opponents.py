"""Rules of loss_contract about two players: both push the score of what one of them makes the same way, or one pushes that of real and made ones so."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding
from trainsleuth.trace import Event, Trace, shown

from ._loss_words import failure

NEEDED_STEPS = 6  # of each player
SURE = 0.95  # of the gradients of each, over all steps


def pull_together(trace: Trace) -> Iterator[Finding]:
    """Each step of the critic lowers what it says of made examples, or each raises it, and so does each step of the maker. It asks: networks
    that help each other, and one loss for both in turns, look the same.
    """
    for event in trace.events("opponents"):
        way = _way(event, "own")
        if min(event["own"], event["its"]) < NEEDED_STEPS or not way or way != _way(event, "its"):
            continue
        yield failure(
            {**event, "fn": "the score"},
            f"{event['scorer']} and {event['maker']} are trained in turns, and the steps of both push the score that {event['scorer']} gives at {shown(event)} to what "
            f"{event['maker']} makes {way}, in all of {event['own']} and {event['its']} steps: they do not work against each other. "
            "Is the one to lower what the other raises, as in a game of the two?",
            "another-loss-fault",
            severity="note",
            confidence="low",
            measured={"steps": event["own"], "steps_of_maker": event["its"], "positive": round(event["own_up"], 3), "positive_of_maker": round(event["its_up"], 3)},
            next="look at the signs, or at the labels for real and made examples, in both losses: one of them is the wrong way round",
        )  # fmt: skip


def real_like_made(trace: Trace) -> Iterator[Finding]:
    """Each step of the critic moves what it says of real and of made examples the same way, so it learns to tell neither. It asks, as above."""
    for event in trace.events("opponents"):
        way = _way(event, "own")
        if min(event["own"], event["real"]) < NEEDED_STEPS or not way or way != _way(event, "real"):
            continue
        yield failure(
            {**event, "fn": "the score"},
            f"the steps of {event['scorer']} push the score that it gives at {shown(event)} to what {event['maker']} makes {way}, and the score of its other "
            f"examples {way} as well, in all of {event['own']} steps: it does not learn to tell them apart. Is it to raise the one and lower the other?",
            "another-loss-fault",
            severity="note",
            confidence="low",
            measured={"steps": event["own"], "others": event["real"]},
            next="look at the signs, or at the labels for real and made examples, in the loss of that step: one of them is the wrong way round",
        )


def _way(event: Event, player: str) -> str:
    low, high = event[f"{player}_range"]
    return "down" if low >= SURE else "up" if high <= 1 - SURE else ""
