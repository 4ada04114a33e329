"""Rules of parameter_table about averages of the weights and target networks: what each of their updates takes over."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from trainsleuth.finding import Finding
from trainsleuth.trace import Event, Trace, shown

from ._parameters import fail

NEEDED_UPDATES = 8
LONG = 20  # updates of a copy that is to be called
SOFT = 0.5  # of the way, left at least by each update
TOGETHER = 0.01  # by which the shares of two copies that one loop updates may differ
NEARLY_EACH = 0.9  # of the updates
CLEAR = 0.5  # cosine between what is left of the way and the way, below which rounding decides
EARLY, LATE = 0.12, 0.06  # shares kept in the first and in the last quarter of the updates
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


def forgets(trace: Trace) -> Iterator[Finding]:
    """Each update keeps less of the average than the one before: a warm-up turned round, as 1 / step where 1 - 1 / step is meant."""
    for event in trace.events("soft_updates"):
        kept = [share for _, share, along in event["left"] if along >= CLEAR]
        part = len(kept) // 4
        if part < NEEDED_UPDATES // 2 or event["against"]:
            continue
        parts = [fmean(kept[place * part : (place + 1) * part]) for place in range(4)]
        if parts[0] >= EARLY and parts[3] < LATE and parts == sorted(parts, reverse=True):
            yield fail(
                event.get("site"),
                f"a {event['cls']} with the sizes of the trained weights, updated at {shown(event)}, keeps less of what it was at each update: {kept[0]:.2g} at "
                f"first and {kept[-1]:.2g} after {len(kept)}, so it ends as a copy of the last step; is 1 less that share meant?",
                "another-loop-fault",
                severity="note",
                confidence="low",
                measured={"kept_first": kept[0], "kept_last": kept[-1], "updates": event["updates"]},
                next="print the factor before the average at some steps: a warm-up goes from nothing to nearly 1",
            )


def with_less(trace: Trace) -> Iterator[Finding]:
    """decay * average - (1 - decay) * trained: each update goes against the two, and towards nothing."""
    for event in trace.events("soft_updates"):
        if event["against"] < max(NEEDED_UPDATES, NEARLY_EACH * event["updates"]):
            continue
        yield fail(
            event.get("site"),
            f"a {event['cls']} with the sizes of the trained weights, updated at {shown(event)}, takes the trained weights away in {event['against']} of "
            f"{event['updates']} updates, where an average adds them: it goes to their opposite; expected a plus between the two parts",
            "another-loop-fault",
            severity="warning",
            confidence="medium",
            measured={"against": event["against"], "updates": event["updates"]},
            next="average = decay * average + (1 - decay) * trained",
        )


def of_another(trace: Trace) -> Iterator[Finding]:
    """A copy is updated from another network than the one it was made of, which has a copy of its own: a line that was
    copied, with one of its names left.
    """
    events = trace.events("soft_updates")
    for event in events:
        beside = next((one for one in events if one is not event and one["source"] == event["led_to"]), None)
        is_left = all(one is event or event["source"] not in (one["source"], one["led_to"]) for one in events)
        if beside is None or beside["strayed"] or not is_left:
            continue
        if event["strayed"] < max(NEEDED_UPDATES, NEARLY_EACH * event["updates"]):
            continue
        yield fail(
            event.get("site"),
            f"the {event['cls']} updated at {shown(event)} began as a copy of one network that trains, and is updated from another one ({event['strayed']} of "
            f"{event['updates']} updates); the {beside['cls']} that began as a copy of that other one is too, so both copies become the same and none that was "
            "seen follows the first network: expected each copy to follow its own",
            "another-loop-fault",
            severity="warning",
            confidence="medium",
            measured={"strayed": event["strayed"], "updates": event["updates"]},
            next="look at the names in the loops that update the copies: zip(q2.parameters(), q2_target.parameters())",
        )


def never_called(trace: Trace) -> Iterator[Finding]:
    """A network follows the trained one and nothing uses it: another beside it is called, or the program came to its end.

    An average may be used in other ways than those that are seen, so it is a note.
    """
    events = [event for event in trace.events("soft_updates") if _is_soft(event)]
    for event in events:
        beside = next((other for other in events if _are_together(event, other) and _is_called(other)), None)
        is_over = trace.ended_by_itself and not trace.events("cut") and not _may_be_saved_unseen(trace)
        if event["used"] or not event["is_module"] or not (beside or is_over):
            continue
        called = (
            f", while the {beside['cls']} that is updated beside it is called at {beside['called']}" if beside else ""
        )
        yield fail(
            event.get("site"),
            f"a {event['cls']} follows the one that trains, updated softly at {shown(event)} ({event['updates']} updates were looked at), but it is "
            f"called at none of {trace.steps} steps, nor saved{called}: is the trained one called where this one was meant, as in the target of a loss?",
            "another-loop-fault",
            severity="note",
            confidence="low",
            measured={"updates": event["updates"], "steps": trace.steps},
            next="look at each call of the trained network for one that should be of this copy; if nothing needs the copy, leave it out",
        )


def _is_soft(event: Event) -> bool:
    return len(event["left"]) >= LONG and all(share >= SOFT for _, share, _ in event["left"])


def _are_together(event: Event, other: Event) -> bool:
    """Does one loop update both, by the same share?"""
    pairs = list(zip(event["left"], other["left"], strict=False))
    shares = [(1 - share, 1 - its) for (_, share, _), (_, its, _) in pairs]
    return (
        other is not event
        and all(mine[0] == its[0] for mine, its in pairs)
        and all(abs(mine - its) <= TOGETHER * mine for mine, its in shares)
    )


def _is_called(event: Event) -> bool:
    return bool(event["called"] >= NEARLY_EACH * event["updates"])


def _may_be_saved_unseen(trace: Trace) -> bool:
    given = trace.events("given_weights")
    return not given or bool(given[-1]["other_files"])


def _constant_share(event: Event) -> float | None:
    """What each update leaves of the way to the trained weights, where that is clear and does not change; else None."""
    shares = [share for _, share, cosine in event["left"] if cosine >= CLEAR]
    if event["exact"] or len(shares) < max(NEEDED_UPDATES, event["updates"] / 2):
        return None
    third = len(shares) // 3
    drift = fmean(shares[-third:]) / fmean(shares[:third])
    return fmean(shares) if max(shares) <= SPREAD * min(shares) and 1 / DRIFT <= drift <= DRIFT else None
