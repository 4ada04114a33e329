"""Labels of padding that count in the loss."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding, Severity
from trainsleuth.trace import Event, Trace, shown

from ._loss_words import failure

BATCHES = 2  # with padding, at least
LONG = 4  # places filled in a row, from which a value that never repeats so often elsewhere is no content
REACHED = 0.9  # share of the labels of padding that the gradient reaches, from which none but single ones are left out
SHARE = 0.1  # of all labels, from which they weigh
LITTLE = 0.01


def padding_counted(trace: Trace) -> Iterator[Finding]:
    """For each loss: what fills up its sequences is a label like any other."""
    last = {(event["site"], event["lib"], event["value"]): event for event in trace.events("padding")}
    counted = [event for event in last.values() if _is_padding(event) and event["reached"] >= REACHED * event["at"]]
    told = set()
    for event in sorted(counted, key=lambda one: -int(one["reached"])):
        if event["site"] not in told and event["reached"] >= LITTLE * event["labels"]:
            told.add(event["site"])
            yield _finding(event)


def _is_padding(event: Event) -> bool:
    """It ends sequences of different lengths and never stands within one, with one label throughout."""
    is_long = event["longest"] >= LONG and (event["held"] == "frames" or event["longest"] > event["run"])
    return not event["doubts"] and event["padded"] >= BATCHES and (is_long or event["told"] == event["padded"])


def _finding(event: Event) -> Finding:
    share = event["reached"] / event["labels"]
    is_asked_back = event["copies"] == event["padded"]
    severity: Severity = "warning" if share >= SHARE and not is_asked_back and not event["light"] else "note"
    filling = "zero frames" if event["held"] == "frames" else f"token {event['value']}"
    end = "behind" if event["at_end"] else "before"
    known = ", which the model is told by a mask, lengths or padding_idx," if event["told"] == event["padded"] else ""
    meant = "; the targets are the inputs, so where they end may be meant to be learned" if is_asked_back else ""
    return failure(
        {**event, "fn": event["fn"]},
        f"{event['fn']} at {shown(event)} counts padding: {event['reached']} of {event['labels']} labels ({share:.0%}) in {event['padded']} batches "
        f"stand where {filling} fills up the sequences of {event['cls']} {end} their content{known} and all of them are {event['label']}; "
        f"ignore_index is {event['ignored']}, and the gradient reaches them{meant}; expected the loss of real places only",
        "wrong-loss-choice",
        severity=severity,
        confidence="high" if severity == "warning" and known else "medium" if severity == "warning" else "low",
        measured={
            "padding": event["reached"],
            "labels": event["labels"],
            "share": round(share, 4),
            "label": event["label"],
        },
        next=_next(event),
        claims=("padding-counted-as-correct",),
    )


def _next(event: Event) -> str:
    label = event["label"]
    if event["elsewhere"]:
        return (
            f"where another token ends each sequence, pass ignore_index={label}; where the {event['elsewhere']} labels {label} at real places are "
            f"the end that must be learned, keep those and fill the labels of padding with {event['ignored']}; then compare the loss per real place"
        )
    return f"pass ignore_index={label}, or fill the labels of padding with {event['ignored']}; then compare the loss per real place"
