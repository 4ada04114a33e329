"""Do activations carry a signal: are units dead or saturated, do magnitudes grow from layer to layer?

At a few training steps every call of relu, sigmoid and tanh is read, as a module or as a function, with its
line, and every module's output with its size.

Fails on: at least nine of ten units of a rectifier that never were above zero in all looks; tanh or sigmoid
that is at its ends for nearly all values in the very first step; outputs larger than a million times the
unit scale; inputs that make the first layer's output tens of times too large where no norm follows; weights
that start ten times larger than any usual initialisation, or all at zero. A line of the program whose difference, product, quotient or
the like is the same number in all places at each of a few looks, though what it is computed from differs, is a note; so is a recurrent layer that is
given one step at a time, and the very same state for each.
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

from ._constant_values import always_the_same
from ._same_state import same_state

EXPERIMENT = "observe"
READS = ("layers", "constant_values")
NEEDED_LOOKS = 3
DEAD = 0.9  # of the units
NEEDED_SAMPLES = 64  # values of each unit in one look
SATURATED = 0.95  # of the values, at the first step
HUGE = 1e6
UNSCALED = 30.0  # standard deviation of what the first layer gives
USUAL_GAIN = 3.0  # std x sqrt(fan in) of a weight: 0.6 by torch's default, 1.4 by He
WILD_GAIN = 10.0  # of half of the layers
NEEDED_LAYERS = 2
WEIGHTED = ("Linear", "LazyLinear", "Conv1d", "Conv2d", "Conv3d")


def probe(trace: Trace) -> Iterator[Finding]:
    latest = {(e["fn"], e["module"], e["site"], e["lib"]): e for e in trace.events("activation")}
    rectifiers = [event for event in latest.values() if "dead" in event]
    squashers = [event for event in latest.values() if event["fn"] in ("tanh", "sigmoid") and event["looks"]]
    layers = [row for event in trace.events("layers") for row in event["rows"]]
    found = [*_dead(rectifiers), *_saturated(squashers), *_huge(trace, layers)]
    found += [*_wild_weights(trace), *_unscaled(trace)]
    yield from found
    yield from always_the_same(trace)
    yield from same_state(trace)
    if not layers:
        yield Finding(by="probe:activations", outcome="open", family="architecture",
                      message="no call of a module in training mode was seen, so no activation was read")  # fmt: skip
    elif not any(finding.is_alarm for finding in found):
        yield _pass([event for event in rectifiers if not _is_in_doubt(event)], squashers, layers)
        yield from map(_in_doubt, filter(_is_in_doubt, rectifiers))


def _fail(site: Event, message: str, suspects: tuple[str, ...], **more: Any) -> Finding:
    path, line = place(site.get("site"))
    return Finding(by="probe:activations", outcome="fail", severity="warning", family="architecture", path=path, line=line,
                   message=message, suspects=suspects, **more)  # fmt: skip


def _dead(rectifiers: list[Event]) -> Iterator[Finding]:
    for event in rectifiers:
        if not _is_silent(event) or not _is_enough(event):
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


def _is_silent(event: Event) -> bool:
    """Nearly no unit was ever active."""
    return bool(event["dead"] >= DEAD * max(1, event["units"]))


def _is_enough(event: Event) -> bool:
    return bool(len(event["looks"]) >= NEEDED_LOOKS and event["samples"] >= NEEDED_SAMPLES and event["units"] >= 4)


def _is_in_doubt(event: Event) -> bool:
    return _is_silent(event) and not _is_enough(event)


def _in_doubt(event: Event) -> Finding:
    path, line = place(event.get("site"))
    return Finding(
        by="probe:activations", outcome="open", family="architecture", path=path, line=line,
        message=f"whether the units of {event['fn']} at {shown(event)} are dead stays open: {event['dead']} of {event['units']} were "
        f"never above zero, but only {len(event['looks'])} looks of {event['samples']} values each were had",
        next="allow more --steps, or a larger batch",
    )  # fmt: skip


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


def _wild_weights(trace: Trace) -> Iterator[Finding]:
    """Half of the layers start with weights far above any usual initialisation, or all at zero; none were loaded."""
    for scales in trace.events("scales"):
        if scales["layers"] < NEEDED_LAYERS or trace.ops("weights_loaded"):
            continue
        if scales["largest_gain"] == 0.0:
            how = "with weights of zero, so all units of a layer say the same and pass no gradient on"
        elif isinstance(scales["median_gain"], float) and scales["median_gain"] >= WILD_GAIN:
            how = (
                f"with weights of standard deviation x sqrt(inputs) above {scales['median_gain']:.3g}, in half of them"
            )
        else:
            continue
        largest = next((row for row in scales["largest"] if row["site"]), {"site": None})
        forward = next((op for op in trace.ops("forward") if op["root"] == scales["root"]), {"site": None})
        yield _fail(
            largest if largest["site"] else forward,
            f"the {scales['layers']} linear layers and convolutions of {scales['cls']} start {how}; expected about 0.6 (torch's "
            "default) to 1.4 (He)",
            ("bad-initialisation-scale",),
            confidence="high",
            measured={"median_gain": scales["median_gain"], "layers": scales["layers"]},
            next="look at what sets the weights after the layers are built",
        )


def _unscaled(trace: Trace) -> Iterator[Finding]:
    """The first layer, with usual weights, gives values tens of times too large, and no norm mends it."""
    usual = {s["root"]: s for s in trace.events("scales") if isinstance(s["median_gain"], float)}
    for root, scales in usual.items():
        tables = [event["rows"] for event in trace.events("layers") if event["root"] == root]
        first = next((row for row in tables[0] if row[1] in WEIGHTED), None) if tables else None
        forward = next((op for op in trace.ops("forward") if op["root"] == root), None)
        if first is None or forward is None or scales["norms"] or scales["median_gain"] > USUAL_GAIN:
            continue
        name, cls, std = first[0], first[1], first[6]
        if not isinstance(std, float) or std < UNSCALED:
            continue
        yield _fail(
            forward,
            f"{cls} {name!r}, the first layer of {scales['cls']}, gives values with a standard deviation of {std:.3g} from weights of a "
            "usual size, and no norm follows: what enters is not scaled; expected inputs with a standard deviation near one",
            ("preprocessing-mismatch", "bad-data-values"),
            confidence="medium",
            measured={"first_layer_std": std, "median_gain": scales["median_gain"]},
            next="standardise the inputs with the statistics of the training data, or divide pixels by 255",
            claims=("visualise-right-before-model",),
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
