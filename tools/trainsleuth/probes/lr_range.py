"""Where does the program's learning rate lie between too small and too large?

A learning-rate range test through the program's own loop: the rate rises at every step from a ten-thousandth
of the program's own to a thousand times it, and the loss is followed.

Fails on: a rate at or above the one from which the loss blew up.
A pass says where the loss fell fastest and where it blew up, as factors of the program's own rate. It is a
rough measure: warm-up, momentum and batch noise move both by a factor of a few.
Cost: a run of its own of up to 120 steps; only when asked for.
Cannot see: what a schedule does later; adversarial training and rollouts (open).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any

from trainsleuth.finding import Finding, Outcome
from trainsleuth.trace import Event, Trace, place

EXPERIMENT = "sweep"
NEEDED_STEPS = 40
WINDOW = 7
BLOWN = 1.5  # times the first loss
FAR = 2.0  # times that, for the last loss
MARGIN = 0.5  # of the program's own rate: at or below it the loss had blown up already


def can_answer(trace: Trace) -> bool:
    """Is there enough of this program, which was seen under another experiment?"""
    return len(trace.stepping) <= 1 and not (trace.ended_by_itself and trace.steps < NEEDED_STEPS)


def probe(trace: Trace) -> Iterator[Finding]:
    steps = trace.events("swept")
    if len(trace.stepping) > 1 or len(steps) < NEEDED_STEPS // 2:
        if len(trace.stepping) > 1:
            yield _finding(
                trace, "open", "several optimizers step against each other: no one rate decides how the loss goes"
            )
        else:
            yield _finding(trace, "open", f"only {len(steps)} steps were seen", next="allow more --steps or --time")
        return
    usable = [event for event in steps if isinstance(event["loss"], float)]
    curve = _smooth([event["loss"] for event in usable])
    own = usable[0]["rate"] / usable[0]["factor"]
    blown = _blown(steps, usable, [event["loss"] for event in usable])
    fastest = _fastest(usable, curve)
    measured: dict[str, Any] = {"own_rate": own, "first_loss": curve[0], "lowest_loss": min(curve)}
    if fastest is not None:
        measured["fastest_fall_at"] = fastest["rate"]
    if blown is not None:
        measured["blew_up_at"] = blown["rate"]
    if blown is not None and blown["factor"] <= MARGIN:
        yield _finding(
            trace, "fail",
            f"the loss blows up from a learning rate of {blown['rate']:.3g} on, {blown['factor']:.2g} times the program's own {own:.3g}; "
            "expected it to hold at its own rate",
            severity="warning", confidence="medium", measured=measured, suspects=("learning-rate-too-high",),
            next=f"try {(fastest or blown)['rate'] / 3:.2g}, or a warm-up to the present rate", claims=("edge-of-stability-lr",),
        )  # fmt: skip
    elif blown is None and len(steps) < NEEDED_STEPS:
        yield _finding(
            trace, "open", f"only {len(steps)} steps were seen", next="allow more --steps or --time", measured=measured
        )
    elif blown is None and fastest is None:
        yield _finding(trace, "open", f"the loss fell at no rate and rose at none, up to {steps[-1]['rate']:.3g}", measured=measured,
                       next="run the probe parameter_table")  # fmt: skip
    else:
        where = f"blew up at {blown['rate']:.3g} ({blown['factor']:.3g} times)" if blown else "never blew up"
        best = (
            f"fell fastest near {fastest['rate']:.2g} ({fastest['factor']:.2g} times the own rate {own:.3g}) and "
            if fastest
            else ""
        )
        yield _finding(trace, "pass", f"the loss {best}{where}", confidence="medium", measured=measured)


def _smooth(losses: Sequence[float]) -> list[float]:
    half = WINDOW // 2
    windows = [sorted(losses[max(0, i - half) : i + half + 1]) for i in range(len(losses))]
    return [window[len(window) // 2] for window in windows]


def _blown(steps: Sequence[Event], usable: Sequence[Event], losses: Sequence[float]) -> Event | None:
    """The step from which every loss to the end lies above the first, the last one far above; or is not finite."""
    broken = next((event for event in steps if not isinstance(event["loss"], float)), None)
    limit = BLOWN * abs(fmean(losses[:3])) + 1e-12
    place = len(losses)
    while place > 0 and losses[place - 1] > limit:
        place -= 1
    if place < len(losses) and (broken is not None or losses[-1] > FAR * limit):
        return usable[place]
    return broken


def _fastest(usable: Sequence[Event], curve: Sequence[float]) -> Event | None:
    falls = [(curve[i] - curve[i + WINDOW], i + WINDOW // 2) for i in range(len(curve) - WINDOW)]
    best = max(falls, default=(0.0, 0))
    return usable[best[1]] if best[0] > 0 else None


def _finding(trace: Trace, outcome: Outcome, message: str, **more: Any) -> Finding:
    ops = trace.ops("step")
    path, line = place(ops[0].get("site")) if ops else (None, None)
    text = message if outcome != "open" else f"where the learning rate lies stays open: {message}"
    return Finding(by="probe:lr_range", outcome=outcome, family="optimizer", path=path, line=line, message=text, **more)
