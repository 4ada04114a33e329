"""In which order does one training step really happen?

Watches every backward, clip, optimizer step, zero_grad, scaler and scheduler call of the real program,
with the user's line and the framework's line. Several optimizers are judged each by its own cycle, so a
GAN whose generator leaves gradients in the discriminator is healthy as long as they are cleared before use.

Fails on: gradients that are never cleared between two steps; gradients cleared between backward and step;
clipping that meets no gradients; an optimizer that never steps; scaled gradients clipped or stepped without
unscaling; plain SGD that steps on the sum of several batches' mean losses (with other optimizers, which undo
the scale, that is a note).
A pass shows the order of a typical step and rules those out; it says nothing about values.
Cost: a few percent of the first steps.
Cannot see: loops without a torch optimizer, CUDA graphs, a step inside torch.func.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from trainsleuth.finding import Finding
from trainsleuth.trace import Trace, place, shown

from ._step_clearing import cleared_before_step, stale_gradients
from ._step_scaling import accumulates_sums, clips_nothing, clips_scaled, scaler_left_out
from ._step_shown import order
from ._step_words import NEEDED_CYCLES, finding

EXPERIMENT = "observe"
NEEDED_CLEARINGS = 5  # of gradients that no step has used
NEEDED_BACKWARDS = 200  # without any clearing: more than gradients are ever summed over
RULES = (stale_gradients, cleared_before_step, clips_nothing, clips_scaled, scaler_left_out, accumulates_sums)


def probe(trace: Trace) -> Iterator[Finding]:
    if not trace.stepping:
        yield from list(_never_steps(trace)) or [_no_step(trace)]
        return
    found = [one for rule in RULES for one in rule(trace)]
    yield from found
    yield order(trace, found=bool(found), why="" if found else _unjudged(trace))


def _never_steps(trace: Trace) -> Iterator[Finding]:
    """Gradients are computed, and perhaps cleared, for parameters of an optimizer that stay as they are."""
    tables = trace.events("parameters")
    backwards = trace.ops("backward")
    cleared = sum(
        one["op"] == "backward" and after["op"] == "zero_grad"
        for one, after in pairwise(trace.ops("backward", "zero_grad"))
    )
    if not tables or (cleared < NEEDED_CLEARINGS and len(backwards) < NEEDED_BACKWARDS):
        return
    held = [row for row in tables[-1]["rows"] if row[2] is not None and row[4]]
    if not held or any(row[10] for row in held):
        return  # updated by hand
    born = trace.optimizer(held[0][2])
    yield finding(
        backwards[0],
        f"{born.get('cls')} built at {shown(born)} never stepped in {len(backwards)} backward calls, the first at {shown(backwards[0])}, "
        f"and none of its {len(held)} parameters changed; expected optimizer.step() after backward",
        "step-order",
        measured={"backwards": len(backwards), "cleared": cleared, "parameters": len(held)},
        next="call optimizer.step() after the backward, and look for a condition that is never true around it",
        claims=("updates-not-applied",),
    )


def _unjudged(trace: Trace) -> str:
    """Why no optimizer had a chance to be found at fault; "" when one had."""
    cycles = [list(trace.cycles(number)) for number in trace.stepping]
    if max(map(len, cycles)) <= NEEDED_CYCLES:
        return f"more than {NEEDED_CYCLES} steps are needed to see whether gradients are cleared in between"
    with_backward = [[one for one in own[1:] if any(op["op"] == "backward" for op in one)] for own in cycles]
    if max(map(len, with_backward)) < NEEDED_CYCLES:
        return "no backward was seen between its steps, so nothing tells where its gradients come from"
    return ""


def _no_step(trace: Trace) -> Finding:
    backwards = len(trace.ops("backward"))
    grads = len(trace.ops("autograd_grad"))
    why = (
        f"{backwards} backward calls but no torch optimizer step were seen: parameters are updated by hand"
        if backwards
        else f"{grads} torch.autograd.grad calls but no backward and no optimizer step were seen"
        if grads
        else "no training step was seen"
    )
    path, line = place(trace.ops("backward")[0].get("site")) if backwards else (None, None)
    return Finding(
        by="probe:step_trace", outcome="open", path=path, line=line, message=f"the order of a step could not be judged: {why}",
        next="read the update by hand, or give a command that trains for at least two steps",
    )  # fmt: skip
