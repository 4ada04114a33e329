"""Do activations carry a signal: are units dead or saturated, do magnitudes grow from layer to layer?

At a few training steps every call of relu, sigmoid and tanh is read, as a module or as a function, with its
line, and every module's output with its size.

Fails on: at least nine of ten units of a rectifier that never were above zero in all looks; tanh or sigmoid
that is at its ends for nearly all values in the very first step; outputs larger than a million times the
unit scale.
A pass rules these out for the looks. Sparse activations are normal; a final sigmoid may saturate as it learns.
Cost: a few slower steps among all (1, 2, 3, 6, 11, 21 ...). Cannot see: activations inside compiled or fused kernels.

Bad:
    x = torch.relu(self.layer(x) - 100)

Good:
    x = torch.relu(self.norm(self.layer(x)))
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainsleuth.finding import Finding
from trainsleuth.trace import Event, Trace, place, shown

EXPERIMENT = "observe"
NEEDED_LOOKS = 3
DEAD = 0.9  # of the units
NEEDED_SAMPLES = 64  # values of each unit in one look
SATURATED = 0.95  # of the values, at the first step
HUGE = 1e6


def probe(trace: Trace) -> Iterator[Finding]:
    latest = {(e["fn"], e["module"], e["site"], e["lib"]): e for e in trace.events("activation")}
    rectifiers = [event for event in latest.values() if "dead" in event]
    squashers = [event for event in latest.values() if event["fn"] in ("tanh", "sigmoid") and event["looks"]]
    layers = [row for event in trace.events("layers") for row in event["rows"]]
    found = [*_dead(rectifiers), *_saturated(squashers), *_huge(trace, layers)]
    yield from found
    if not layers:
        yield Finding(by="probe:activations", outcome="open", family="architecture",
                      message="no module was called in training mode, so no activation was read")  # fmt: skip
    elif not any(finding.is_alarm for finding in found):
        yield _pass(rectifiers, squashers, layers)


def _fail(site: Event, message: str, suspects: tuple[str, ...], **more: Any) -> Finding:
    path, line = place(site.get("site"))
    return Finding(by="probe:activations", outcome="fail", severity="warning", family="architecture", path=path, line=line,
                   message=message, suspects=suspects, **more)  # fmt: skip


def _dead(rectifiers: list[Event]) -> Iterator[Finding]:
    for event in rectifiers:
        share = event["dead"] / max(1, event["units"])
        if (
            share < DEAD
            or len(event["looks"]) < NEEDED_LOOKS
            or event["samples"] < NEEDED_SAMPLES
            or event["units"] < 4
        ):
            continue
        yield _fail(
            event,
            f"{event['dead']} of {event['units']} units of {event['fn']} at {shown(event)} (in {event['module']}) were never above "
            f"zero in {len(event['looks'])} looks of {event['samples']} values each: they pass nothing on and get no gradient; "
            "expected most units to be active somewhere",
            ("learning-rate-too-high", "bad-initialisation-scale", "input-does-not-matter"),
            confidence="high",
            measured={"dead": event["dead"], "units": event["units"], "looks": len(event["looks"])},
            next="look at the bias and the scale before it, and at the first steps' learning rate",
            claims=("dead-relu-forty-percent",),
        )


def _saturated(squashers: list[Event]) -> Iterator[Finding]:
    for event in squashers:
        step, share = event["looks"][0]
        if step != 0 or share < SATURATED:
            continue
        yield _fail(
            event,
            f"{event['fn']} at {shown(event)} (in {event['module']}) is at its ends for {share:.0%} of its values at the very first "
            "step, where its gradient vanishes; expected it to start in its middle",
            ("bad-initialisation-scale", "preprocessing-mismatch"),
            confidence="high",
            measured={"saturated": round(share, 4)},
            next="look at the range of the inputs (probe batch_as_seen) and at the scale of the weights before it",
        )


def _huge(trace: Trace, layers: list[list[Any]]) -> Iterator[Finding]:
    large = [
        row for row in layers if isinstance(row[7], float) and row[7] > HUGE and row[4] not in (None, "int64", "int32")
    ]
    forward = trace.ops("forward")
    if large and forward:
        name, cls, given, out, *_ = large[0]
        yield _fail(
            forward[0],
            f"{cls} {name!r} gives values up to {large[0][7]:.3g} at the first look (from {given} to {out}), and {len(large) - 1} "
            "layers after it too; expected magnitudes near one",
            ("bad-initialisation-scale", "preprocessing-mismatch"),
            confidence="medium",
            measured={"largest": large[0][7], "layers": len(large)},
            next="look at the range of the inputs and at the initialisation of this layer",
        )


def _pass(rectifiers: list[Event], squashers: list[Event], layers: list[list[Any]]) -> Finding:
    dead = sum(event["dead"] for event in rectifiers)
    units = sum(event["units"] for event in rectifiers)
    scales = [row[6] for row in layers if isinstance(row[6], float)]
    spread = [f"layer outputs have standard deviations of {min(scales):.3g} to {max(scales):.3g}"] if scales else []
    squashed = [f"{len(squashers)} places of tanh or sigmoid, none at its ends from the start"] if squashers else []
    rectified = [f"{dead} of {units} units of relu at {len(rectifiers)} places never active"] if rectifiers else []
    return Finding(
        by="probe:activations", outcome="pass" if rectified or squashed or spread else "open", confidence="medium" if units or squashers else "low", family="architecture",
        message="; ".join([*rectified, *squashed, *spread]) or "no output of a layer has a number to judge",
        measured={"dead": dead, "units": units, "layers": len(layers)},
    )  # fmt: skip
