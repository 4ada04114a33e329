"""Rules of parameter_table about averages of the weights and target networks: what each of their updates takes over."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from trainsleuth.finding import Finding
from trainsleuth.trace import Event, Trace, shown

from ._parameters import fail

NEEDED_UPDATES = 8
CLEAR = 0.5  # cosine between what is left of the way and the way, below which rounding decides
MOST_LEFT = 0.02  # of the way to the trained weights, after each update
SPREAD, DRIFT = 1.25, 1.05  # largest by smallest share left, and late by early: that of a warm-up grows by more


def exchanged(trace: Trace) -> Iterator[Finding]:
    """Each update takes over nearly all of the trained weights, not all, and always the same share: a weight on the wrong side."""
    for event in trace.events("soft_updates"):
        left = _constant_share(event)
        if left is None or not left < MOST_LEFT:
            continue
        what = f"a {event['cls']}" + ("" if event["is_module"] else " of tensors")
        yield fail(
            event.get("site"),
            f"{what} with the sizes of the trained weights, updated at {shown(event)}, takes over {1 - left:.4%} of them at each of "
            f"{event['updates']} updates and keeps {left:.2g} of what it was, so it holds little more than the last step; an average or "
            f"target network that follows slowly keeps nearly all: expected the two weights the other way round ({1 - left:.4g} of its own)",
            "another-loop-fault",
            severity="warning",
            confidence="medium",
            measured={"kept": left, "updates": event["updates"]},
            next="look at which factor stands before which weights: average = decay * average + (1 - decay) * trained, or "
            "(1 - tau) * target + tau * trained",
        )


def _constant_share(event: Event) -> float | None:
    """What each update leaves of the way to the trained weights, where that is clear and does not change; else None."""
    shares = [share for _, share, cosine in event["left"] if cosine >= CLEAR]
    if event["exact"] or len(shares) < max(NEEDED_UPDATES, event["updates"] / 2):
        return None
    third = len(shares) // 3
    drift = fmean(shares[-third:]) / fmean(shares[:third])
    return fmean(shares) if max(shares) <= SPREAD * min(shares) and 1 / DRIFT <= drift <= DRIFT else None
