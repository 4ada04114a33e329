"""Can the program fit one batch through its own loop?

A second run: the data are frozen (loader content, then the random state, then recorded arguments), dropout,
weight decay and the schedule are held off, and the loss is followed. The verdict rests on fingerprints that
prove the freeze; without that proof it is open.

Fails on: a loss that does not move on frozen data, by name where no optimizer steps; a loss that levels off at the floor of a double softmax;
targets that are shuffled anew while the inputs stay the same.
A pass means that model, loss and optimizer can fit: it says nothing about labels, data or evaluation,
and nearly every data bug passes it.
Cost: one run of the program of up to 120 steps.
Cannot see: reinforcement learning (rollouts move with the policy) and adversarial losses: both are open.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import fmean

from trainsleuth.finding import Confidence, Finding, Link, Outcome, Severity
from trainsleuth.trace import Event, Trace, place

EXPERIMENT = "overfit"
LISTENER = "listener overfit"
BY_HAND = "put one batch into a list and loop over it by hand"
NEEDED_STEPS = 8  # with proven freeze
ENOUGH_STEPS_TO_BLAME = 30
FITTED = 0.2  # of the first loss
UNMOVED = 0.95  # of the first loss: nothing was learned
STUCK = 0.5  # of the first loss, with the program's own randomness
STILL = 0.05  # of the first loss: fall over six steps below which that curve is flat
FITTED_AGAIN = 0.3  # of that, once the random state is frozen
# causes that leave a loss where it is; which of them, other probes say
STANDSTILL = ("loss-cut-from-graph", "frozen-parameters", "learning-rate-zero-or-tiny", "step-order",
              "optimizer-misses-parameters", "unregistered-submodules", "double-normalised-loss", "broadcast-in-loss")  # fmt: skip
AT_MOST_STEPS = 0.9  # share of them at which a slow loss falls
GOES_ON = 0.25  # of the fall over the first third, for that over the last
SEEN = 5e-4  # of the loss: fall that is none of rounding
SAME_SHARE = 0.7  # of the frozen steps must meet exactly the same data
LEVEL = 0.02  # of the first loss: change over the last third below which a curve is flat


def probe(trace: Trace) -> Iterator[Finding]:
    steps = trace.events("frozen")
    if not steps:
        yield _open("no training step was seen", "give a command that trains for some dozens of steps")
        return
    if (why := trace.hooks_missing.get(LISTENER)) is not None:
        yield _open(f"after {len(steps)} steps the probe itself failed ({why})", BY_HAND, trace)
        return
    yield from _moving_targets(trace, steps)
    yield from _lost_pairing(trace, steps)
    held = _held(steps)
    if isinstance(held, str):
        yield _open(held, _longer(trace) if steps[-1]["mode"] in ("content", "record") else BY_HAND, trace)
        return
    # of two optimizers the first may step before any backward
    live = [event["loss"] for event in steps if event["losses"]][:2]
    losses = [*live, *(event["loss"] for event in held)]
    if any(not isinstance(loss, float) for loss in losses):
        bad = next(i for i, loss in enumerate(losses) if not isinstance(loss, float))
        yield _open(f"the loss is {losses[bad]} after {bad} frozen steps", "run the probe first_nonfinite", trace)
        return
    if len(held) < NEEDED_STEPS:
        yield _open(f"only {len(held)} steps on frozen data were seen", _longer(trace), trace)
        return
    yield _unchanged(trace, held) or _verdict(trace, losses, len(live), _means(held[-1]))


# -- proof ---------------------------------------------------------------------------------


def _held(steps: Sequence[Event]) -> list[Event] | str:
    """The last steps that provably met the same data, or why there are none."""
    if _optimizers_compete(steps):
        return "several losses are stepped against each other in one step (adversarial), so no single curve says whether it fits"
    mode = steps[-1]["mode"]
    if mode == "record":
        return "the run ended before its inputs could be replayed"
    if mode == "content":
        return f"only {len(steps)} steps were seen, too few to freeze the random state as well"
    tail = [event for event in steps if event["mode"] == mode]
    if not any(prints for event in tail for prints in event["inputs"]):
        return "no call of an outermost module in training mode was seen, so nothing proves that the data were frozen"
    if not any(event["losses"] for event in tail):
        return "no backward was seen (gradients come from torch.func or by hand), so there is no loss to follow"
    same = _most_common(tail)
    if len(same) < max(SAME_SHARE * len(tail), 1):
        return "what enters the model and the loss still changes from step to step (its source is no loader, seed or argument)"
    if mode == "replay" and not same[-1]["from_modules"] and not same[-1]["replayed_targets"]:
        return "arguments were replayed, but the loss also uses values that could not be frozen"
    return same


def _most_common(tail: Sequence[Event]) -> list[Event]:
    """The steps that met exactly the most frequent inputs and targets: a new epoch may begin with another draw.

    Micro-batches of one step count as a set, since an odd number per epoch makes one step shorter. Of later
    calls only those of the first module's inputs matter when they are fed by earlier ones.
    """
    met = [(_prints(event["inputs"][:1]), _prints([t[:1] for t in event["targets"]])) for event in tail]
    most = max(met, key=met.count)
    return [event for event, what in zip(tail, met, strict=True) if what == most]


def _prints(calls: Sequence[Sequence[str]]) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(call) for call in calls)


def _optimizers_compete(steps: Sequence[Event]) -> bool:
    """Several optimizers step, each after a backward of its own."""
    last = steps[-1]
    return bool(last["optimizers"] > 1 and len(last["losses"]) > 1)


def _moving_targets(trace: Trace, steps: Sequence[Event]) -> Iterator[Finding]:
    """With loader content alone frozen: same inputs, and targets that are a new permutation each time."""
    content = [event for event in steps if event["mode"] == "content" and event["inputs"] and event["targets"]]
    if len(content) < 3 or len({str(event["inputs"][0]) for event in content}) > 1:
        return
    exact = {event["targets"][0][0] for event in content}
    ordered = {event["targets"][0][1] for event in content}
    if len(exact) == len(content) and len(ordered) == 1:
        losses = trace.events("loss")
        path, line = place(losses[0]["site"]) if losses else (None, None)
        yield Finding(
            by="probe:overfit_one_batch", outcome="fail", severity="error", confidence="high", family="data", path=path,
            line=line, suspects=("targets-misaligned-with-inputs",),
            message=f"the same inputs come with the same targets in a different order at each of {len(content)} steps: "
            "inputs and targets are shuffled apart between the loader and the loss; expected one fixed pairing",
            measured={"steps": len(content), "different_orders": len(exact)},
            next="look for a permutation applied to one of inputs and targets only",
            claims=("labels-shuffled-together",),
        )  # fmt: skip


def _lost_pairing(trace: Trace, steps: Sequence[Event]) -> Iterator[Finding]:
    """Targets come in a new order each step, and the batch can be fitted only once that order is frozen."""
    content = [event for event in steps if event["mode"] == "content" and event["targets"]][:-1]
    frozen = [event["loss"] for event in steps if event["mode"] == "random"]
    orders = {event["targets"][0][0] for event in content}
    if (
        len(content) < 20
        or len(frozen) < 20
        or len(orders) < len(content)
        or len({e["targets"][0][1] for e in content}) > 1
    ):
        return
    free = [event["loss"] for event in content]
    if any(not isinstance(loss, float) for loss in free + frozen):
        return
    start, stuck, fitted = fmean(free[:3]), fmean(free[-5:]), fmean(frozen[-3:])
    fall = fmean(free[-12:-6]) - fmean(free[-6:])
    if stuck > STUCK * start and fall < STILL * start and fitted < FITTED_AGAIN * stuck:
        losses = [call for call in trace.events("loss") if call["training"]]
        drawn = _permutations(trace, losses)
        path, line = place(drawn[-1] if drawn else losses[0]["site"] if losses else None)
        links = [(*place(site), "draws a permutation of the batch") for site in drawn]
        yield Finding(
            by="probe:overfit_one_batch", outcome="fail", severity="error", confidence="high", family="data", path=path,
            line=line, suspects=("targets-misaligned-with-inputs",), claims=("labels-shuffled-together",),
            chain=tuple(Link(path, line, why) for path, line, why in links if path and line),
            message=f"one batch of the loader comes with its targets in a new order at each of {len(content)} steps and the "
            f"loss stays at {stuck:.4g} of {start:.4g}; with the random state frozen, so that the order stays, it falls to "
            f"{fitted:.4g}: the order of the targets is not that of the inputs; expected one permutation for both",
            measured={"free_start": start, "free_end": stuck, "frozen_end": fitted, "orders": len(orders)},
            next="look for a permutation between the loader and the loss that is drawn twice, or applied to one side only",
        )  # fmt: skip


def _permutations(trace: Trace, losses: Sequence[Event]) -> list[str]:
    """Lines that draw a permutation as long as the batch, in the order of one step."""
    sizes = {call["input"]["shape"][0] for call in losses if call["input"]["shape"]}
    return list(dict.fromkeys(event["site"] for event in trace.events("permutation") if event["size"] in sizes))


def _longer(trace: Trace) -> str:
    """How more steps come to be seen: a program that ended by itself has no more, however long it may run."""
    return "let it train for more epochs" if trace.ended_by_itself else "allow more --steps or --time"


# -- verdict -------------------------------------------------------------------------------


def _unchanged(trace: Trace, held: Sequence[Event]) -> Finding | None:
    """No optimizer steps, and the same data give the same loss to the last bit."""
    losses = {event["loss"] for event in held}
    if len(losses) > 1 or any(event["optimizers"] for event in trace.events("frozen")):
        return None
    (loss,) = losses
    return _finding(trace, "fail", f"nothing changes the parameters: the loss is {loss:.4g} to the last digit at {len(held)} steps on one "
                    f"frozen batch (by {_means(held[-1])}), and no optimizer stepped; expected an optimizer that steps after backward",
                    {"loss": loss, "steps": len(held)}, ("step-order",), "warning", "medium", ("updates-not-applied",))  # fmt: skip


def _verdict(trace: Trace, losses: list[float], live: int, means: str) -> Finding:
    """`live`: how many of the losses are of batches before the frozen one."""
    start, end, lowest = fmean(losses[:2]), fmean(losses[-3:]), min(losses)
    third = losses[-max(3, len(losses) // 3) :]
    change = (fmean(third[:2]) - fmean(third[-2:])) / max(abs(start), 1e-12)
    measured = {
        "start": start,
        "end": end,
        "lowest": lowest,
        "steps": len(losses),
        "slope_last_third": change,
    }
    curve = f"{start:.4g} to {end:.4g}, the last {len(losses) - live} steps on one frozen batch (by {means})"
    floor = _softmax_floor(trace)
    if floor is not None and abs(end - floor) < 0.02 * floor and abs(change) < LEVEL:
        return _finding(trace, "fail", f"the loss goes from {curve} and levels off at {floor:.3f}, the floor of "
                        "cross-entropy on probabilities; expected to approach 0", measured, ("double-normalised-loss",),
                        "error", "high", ("softmax-before-ce-floor",))  # fmt: skip
    lowest_possible = _smoothed_floor(trace)
    if start > 0 and end - lowest_possible <= FITTED * (start - lowest_possible):
        return _finding(trace, "pass", f"the loss falls from {curve}: model, loss and optimizer can fit; "
                        "data, labels and evaluation are not ruled out", measured)  # fmt: skip
    if end > UNMOVED * start and len(losses) >= ENOUGH_STEPS_TO_BLAME and abs(change) < LEVEL and start > 0:
        if end > 1.5 * start and _is_level(losses[live:]):
            return _finding(trace, "open", f"the loss stays at {end:.4g} for {len(losses) - live} steps on one frozen batch (by {means}), and began at "
                            f"{start:.4g} on others: a harder batch that nothing fits, or a first step that was too large", measured,
                            then="divide the learning rate by ten: if the loss stays as it is, read the parameter table")  # fmt: skip
        if end > 1.5 * start:
            stepped = any(event["optimizers"] for event in trace.events("frozen"))
            rate = " at the constructor's learning rate" if stepped else ""
            return _finding(
                trace, "open", f"the loss rises from {curve}{rate}", measured, then="divide the learning rate by ten"
            )
        if _is_steady(losses[live:]):
            return _finding(trace, "open", f"the loss goes from {curve}, a little at nearly every step: slow, or held up, stays open",
                            measured, then="multiply the learning rate by ten and look whether it falls ten times as fast")  # fmt: skip
        return _finding(trace, "fail", f"the loss stays: {curve}; expected a clear fall, since the batch, dropout, decay and "
                        "schedule are held still", measured, STANDSTILL, "warning", "medium",
                        ("overfit-one-batch", "failing-one-batch-shapes"))  # fmt: skip
    trend = "still falling" if change > LEVEL else "level" if abs(change) <= LEVEL else "rising"
    return _finding(
        trace,
        "open",
        f"the loss goes from {curve} and is {trend}: not enough to call it fitted or stuck",
        measured,
        then="let it train for more steps: a batch that can be fitted is fitted in the end",
    )


def _is_level(losses: Sequence[float]) -> bool:
    return max(losses) - min(losses) <= LEVEL * abs(losses[0])


def _is_steady(losses: Sequence[float]) -> bool:
    """Is it a slow fall that goes on, rather than a loss that stays?"""
    third = len(losses) // 3
    first, last = losses[0] - losses[third], losses[-third - 1] - losses[-1]
    falls = sum(later < earlier for earlier, later in pairwise(losses)) / (len(losses) - 1)
    return falls >= AT_MOST_STEPS and last >= GOES_ON * first > 0 and losses[0] - losses[-1] > SEEN * abs(losses[0])


def _softmax_floor(trace: Trace) -> float | None:
    """ln(1 + (C-1)/e) when probabilities enter a cross-entropy."""
    for call in trace.events("loss"):
        if call["fn"] == "cross_entropy" and call.get("holds") == "probabilities" and call.get("labels"):
            return math.log(1 + (int(call["labels"]["classes"]) - 1) / math.e)
    return None


def _smoothed_floor(trace: Trace) -> float:
    """The entropy of smoothed labels: cross-entropy cannot go below it. 0 without label smoothing."""
    for call in trace.events("loss"):
        smoothing, labels = call.get("label_smoothing") or 0.0, call.get("labels")
        if call["training"] and smoothing > 0.0 and labels and not call.get("weighted"):
            off = smoothing / labels["classes"]
            on = 1 - smoothing + off
            return float(-on * math.log(on) - (labels["classes"] - 1) * off * math.log(off))
    return 0.0


def _means(held: Event) -> str:
    """What held the data still, in words."""
    if held["mode"] == "replay":
        return "replayed arguments and targets"
    return "loader content and random state" if held["loader"] else "random state"


def _finding(
    trace: Trace,
    outcome: Outcome,
    message: str,
    measured: dict[str, float | int],
    suspects: tuple[str, ...] = (),
    severity: Severity = "note",
    confidence: Confidence = "medium",
    claims: tuple[str, ...] = ("overfit-one-batch", "overfit-one-batch-blind-spots"),
    then: str = "read the parameter table of the same program",
) -> Finding:
    path, line = _place(trace)
    return Finding(
        by="probe:overfit_one_batch", outcome=outcome, severity=severity, confidence=confidence, message=message,
        path=path, line=line, measured=measured, suspects=suspects, claims=claims,
        next="look at the data as they enter the model" if outcome == "pass" else then,
    )  # fmt: skip


def _place(trace: Trace) -> tuple[str | None, int | None]:
    """Of the loss function that is trained on; of the backward where none of torch is called."""
    calls = [call for call in trace.events("loss") if call["training"]]
    return place(next((one["site"] for one in [*calls, *trace.events("graph")] if one["site"]), None))


def _open(why: str, next_step: str, trace: Trace | None = None) -> Finding:
    return Finding(by="probe:overfit_one_batch", outcome="open", message=f"whether one batch can be fitted stays open: {why}",
                   next=next_step, measured={"steps": trace.steps} if trace else {})  # fmt: skip
