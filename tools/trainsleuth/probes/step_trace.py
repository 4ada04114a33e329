"""In which order does one training step really happen?

Watches every backward, clip, optimizer step, zero_grad, scaler and scheduler call of the real program,
with the user's line and the framework's line. Several optimizers are judged each by its own cycle, so a
GAN whose generator leaves gradients in the discriminator is healthy as long as they are cleared before use.

Fails on: gradients that are never cleared between two steps; gradients cleared between backward and step; those of several
batches of which each is cleared by the next before a step uses it;
clipping that meets no gradients; an optimizer that never steps; no optimizer at all, and parameters that get
gradients in training mode and stay as they are; gradients that are never cleared where parameters are changed by hand; scaled gradients clipped or stepped without unscaling; plain SGD that steps on the
sum of several batches' mean losses (with other optimizers, which undo the scale, that is a note); an optimizer
with moments that is built anew for each step. Of several players, a backward whose gradients are all cleared before anybody steps
on them is a note, as is one whose gradients something that is called in between clears.
A pass shows the order of a typical step and rules those out; it says nothing about values.
Cost: a few percent of the first steps.
Cannot see: the order of a step without a torch optimizer, but for gradients that stay; CUDA graphs, a step inside torch.func.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding
from trainsleuth.trace import Trace

from . import _by_hand
from ._optimizer_remade import built_for_each_step
from ._step_clearing import cleared_before_step, stale_gradients
from ._step_missing import never_steps, nothing_steps, unjudged
from ._step_scaling import accumulates_sums, clips_nothing, clips_scaled, scaler_left_out
from ._step_shown import order
from ._step_wasted import cleared_unused, thrown_away, wiped_out
from ._step_words import NEEDED_CYCLES

EXPERIMENT = "observe"
READS = ("trace", "remade", "by_hand")
RULES = (
    stale_gradients, cleared_before_step, clips_nothing, clips_scaled, scaler_left_out, accumulates_sums, built_for_each_step,
    cleared_unused, thrown_away, wiped_out,
)  # fmt: skip


def probe(trace: Trace) -> Iterator[Finding]:
    if not trace.stepping:
        yield from (
            [*never_steps(trace), *nothing_steps(trace), *_by_hand.kept(trace)]
            or [*_by_hand.cleared(trace)]
            or [unjudged(trace)]
        )
        return
    found = [one for rule in RULES for one in rule(trace)]
    yield from found
    yield order(trace, found=bool(found), why="" if found else _unjudged(trace))


def _unjudged(trace: Trace) -> str:
    """Why no optimizer had a chance to be found at fault; "" when one had."""
    cycles = [list(trace.cycles(number)) for number in trace.stepping]
    if max(map(len, cycles)) <= NEEDED_CYCLES:
        return f"more than {NEEDED_CYCLES} steps are needed to see whether gradients are cleared in between"
    with_backward = [[one for one in own[1:] if any(op["op"] == "backward" for op in one)] for own in cycles]
    if max(map(len, with_backward)) < NEEDED_CYCLES:
        return "no backward was seen between its steps, so nothing tells where its gradients come from"
    return ""
