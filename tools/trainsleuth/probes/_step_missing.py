"""Rules of step_trace where no optimizer steps: gradients are computed, and nothing uses them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from trainsleuth.finding import Finding
from trainsleuth.trace import Trace, place, shown

from ._parameters import Row, read_table
from ._step_words import finding

NEEDED_CLEARINGS = 5  # of gradients that no step has used
NEEDED_BACKWARDS = 200  # without any clearing: more than gradients are ever summed over
NEEDED_OF_ALL = 10  # backward calls of a program that has ended: no update comes after them


def never_steps(trace: Trace) -> Iterator[Finding]:
    """Gradients are computed, and perhaps cleared, for parameters of an optimizer that stay as they are."""
    table = read_table(trace)
    backwards = trace.ops("backward")
    cleared = sum(
        one["op"] == "backward" and after["op"] == "zero_grad"
        for one, after in pairwise(trace.ops("backward", "zero_grad"))
    )
    if table is None or (cleared < NEEDED_CLEARINGS and len(backwards) < NEEDED_BACKWARDS):
        return
    held = [row for row in table.rows if row.optimizer is not None and row.trainable]
    if not held or any(row.changed for row in held):
        return  # updated by hand
    assert held[0].optimizer is not None
    born = trace.optimizer(held[0].optimizer)
    yield finding(
        backwards[0],
        f"{born.get('cls')} built at {shown(born)} never stepped in {len(backwards)} backward calls, the first at {shown(backwards[0])}, "
        f"and none of its {len(held)} parameters changed; expected optimizer.step() after backward",
        "step-order",
        measured={"backwards": len(backwards), "cleared": cleared, "parameters": len(held)},
        next="call optimizer.step() after the backward, and look for a condition that is never true around it",
        claims=("updates-not-applied",),
    )


def nothing_steps(trace: Trace) -> Iterator[Finding]:
    """Without any optimizer: gradients reach the parameters of called modules, which stay as they are to the end."""
    backwards = _backwards(trace)
    if trace.events("optimizer") or backwards < (NEEDED_OF_ALL if trace.ended_by_itself else NEEDED_BACKWARDS):
        return
    held = _with_gradients(trace)
    if not held or any(row.changed or not row.called for row in held):
        return  # updated by hand, or replaced by new ones
    if not any(trace.events("parameters")[-1]["training"]):
        return  # in evaluation mode gradients are wanted for themselves: Fisher information, influence, attribution
    if any(graph["leaves"] > len(held) for graph in trace.events("graph")):
        return  # gradients of inputs, or of tensors that no module holds, may be what is wanted
    first = trace.ops("backward")[0]
    yield finding(
        first,
        f"nothing changes the parameters: {backwards} backward calls, the first at {shown(first)}, gave gradients to {len(held)} "
        "parameters, no optimizer was built and none of them changed; expected an optimizer that steps after backward",
        "step-order",
        severity="warning",
        measured={"backwards": backwards, "parameters": len(held)},
        next="build an optimizer from model.parameters(); call its step() after the backward, and zero_grad() before the next",
        claims=("updates-not-applied",),
    )


def unjudged(trace: Trace) -> Finding:
    backwards = _backwards(trace)
    grads = len(trace.ops("autograd_grad"))
    why = (
        f"{backwards} backward calls but no torch optimizer step were seen{_who_updates(trace)}"
        if backwards
        else f"{grads} torch.autograd.grad calls but no backward and no optimizer step were seen"
        if grads
        else "no training step was seen"
    )
    path, line = place(trace.ops("backward")[0].get("site")) if backwards else (None, None)
    return Finding(
        by="probe:step_trace", outcome="open", path=path, line=line, message=f"the order of a step could not be judged: {why}",
        next="read what changes the parameters, or give a command that trains for at least two steps",
    )  # fmt: skip


def _who_updates(trace: Trace) -> str:
    held = _with_gradients(trace)
    if not held:
        return ", and no module holds what gets gradients"
    return ": parameters are updated by hand" if any(row.changed for row in held) else ", and no parameter changed"


def _with_gradients(trace: Trace) -> list[Row]:
    table = read_table(trace)
    return [row for row in table.rows if row.gradients or row.changed] if table is not None else []


def _backwards(trace: Trace) -> int:
    """Calls of backward; without an optimizer each but the last ends a step, also past those that are told in full."""
    told = len(trace.ops("backward"))
    return told if trace.events("optimizer") or not told else max(told, trace.steps + 1)
