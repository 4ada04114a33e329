"""Rules of a step: when its gradients are cleared."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding
from trainsleuth.trace import Event, Trace, shown

from ._step_words import NEEDED_CYCLES, finding, links


def stale_gradients(trace: Trace) -> Iterator[Finding]:
    """Per optimizer: between two of its steps gradients were never empty at a backward, nor cleared."""
    for number in trace.stepping:
        stale, judged, norms, backwards = 0, 0, [], []
        for cycle in list(trace.cycles(number))[1:]:
            states = [op["grads"].get(str(number)) for op in cycle if op["op"] == "backward" and op.get("grads")]
            if not states:
                continue
            judged += 1
            stale += all(state == "some" for state in states) and not _is_cleared(cycle, number)
            norms.append(cycle[-1].get("norm"))
            backwards.append(_own_backward(cycle, number))
        if judged >= NEEDED_CYCLES and stale == judged:
            backward = backwards[0]
            step = next(op for op in trace.ops("step") if op["optimizer"] == number)
            yield finding(
                backward,
                f"gradients of {_named(trace, number)} are never cleared: at {stale} of {judged} backward calls at {shown(backward)} "
                "they still held those of all earlier steps; expected zero_grad() once before each step",
                "missing-zero-grad",
                chain=links((backward, "adds to gradients that were not cleared"), (step, "steps on their sum")),
                measured={"stale_cycles": stale, "judged_cycles": judged,
                          **{f"gradient_norm_{i + 1}": norm for i, norm in enumerate(norms[:3]) if norm is not None}},
                next=f"clear them before the backward at {backward.get('site')} and run this probe again",
                claims=("zero-grad-forgotten", "zero-grad-position-variants",),
            )  # fmt: skip


def _own_backward(cycle: tuple[Event, ...], number: int) -> Event:
    """The first that added to the gradients of this optimizer; the one next to the step where that was not seen."""
    backwards: list[Event] = []
    for op in cycle:
        if op["op"] == "backward":
            backwards.append(op)
        elif op["op"] == "backward_done" and backwards and number in op.get("reached", ()):
            return backwards[-1]
    return backwards[-1]


def _named(trace: Trace, number: int) -> str:
    """The optimizer, with the place where it was made when there are others."""
    born = trace.optimizer(number)
    cls = str(born.get("cls", "optimizer"))
    return f"the {cls} made at {shown(born)}" if len(trace.stepping) > 1 and born else cls


def _is_cleared(cycle: tuple[Event, ...], number: int) -> bool:
    return any(
        op["op"] == "zero_grad" and (op.get("optimizer") == number or number in op.get("optimizers", ()))
        for op in cycle
    )


def cleared_before_step(trace: Trace) -> Iterator[Finding]:
    """The last thing to happen to the gradients before the step is that they are cleared."""
    for number in trace.stepping:
        bad = []
        cycles = list(trace.cycles(number))
        for cycle in cycles:
            names = [op["op"] for op in cycle]
            if cycle[-1]["grads"] == "some" or "backward" not in names:
                continue
            last_backward = len(names) - 1 - names[::-1].index("backward")
            bad += [op for op in cycle[last_backward:] if op["op"] == "zero_grad"][:1]
        if len(bad) >= NEEDED_CYCLES and len(bad) == len(cycles):
            step = next(op for op in trace.ops("step") if op["optimizer"] == number)
            yield finding(
                bad[0],
                f"zero_grad at {shown(bad[0])} runs between backward and step: all {len(bad)} steps at "
                f"{shown(step)} met empty gradients; expected the clearing before the backward or after the step",
                "step-order",
                chain=links((bad[0], "clears what backward just computed"), (step, "steps on nothing")),
                measured={"steps_on_nothing": len(bad)},
                next="move zero_grad before the backward and run this probe again",
                claims=(
                    "zero-grad-forgotten",
                    "zero-grad-position-variants",
                ),
            )
