"""A mask of padding that comes with the batches and is not given to the model."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding, Severity
from trainsleuth.trace import Event, Trace, shown

from ._batch_words import failure

NEEDED_CALLS = 3
MOVED = 1e-3  # of the largest output: more than sums in another order do
ROUNDINGS = 16  # of the type of the outputs
BEYOND_ONES = 10  # times what a mask does that hides nothing


def mask_left_out(trace: Trace) -> Iterator[Finding]:
    """No training call is given it, and with it the outputs of real places are others."""
    for one in trace.events("mask_left_out"):
        if one["read"] < NEEDED_CALLS:
            continue
        if one["effect"] is None:
            yield _found(one, "note", "; whether that changes what comes out could not be tried; is that meant?")
        elif one["effect"] > max(MOVED, ROUNDINGS * one["eps"]):
            is_known = one["effect"] > BEYOND_ONES * one["ones"]
            moved = f"; given it, the outputs where no padding stands move by {one['effect']:.2g} of the largest (a mask of ones: {one['ones']:.2g})"
            asks = ": the model takes padding for content; expected the mask in every call" if is_known else ""
            yield _found(one, "warning" if is_known else "note", moved + asks)


def _found(one: Event, severity: Severity, what: str) -> Finding:
    evaluated = f", while {one['evaluated_with']} calls without gradients are given it" if one["evaluated_with"] else ""
    return failure(
        one,
        f"{one['cls']} called at {shown(one)} is never given {one['name']!r} in training, which its batches hold: {one['padded'] / one['places']:.0%} of the "
        f"places in {one['read']} calls are padding{evaluated}{what}",
        "wrong-axis-or-mask",
        severity=severity,
        confidence="high" if severity == "warning" and evaluated else "medium" if severity == "warning" else "low",
        measured={"padding": one["padded"], "places": one["places"], "effect": one["effect"] or 0.0},
        next=f"pass {one['name']}=batch[{one['name']!r}] to the model, or all of the batch, as model(**batch)",
        claims=("adaptive-parts-mask-bugs",),
    )
