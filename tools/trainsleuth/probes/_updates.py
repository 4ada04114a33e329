"""Rules of parameter_table about steps: whether there are any, and how far they move the parameters."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from statistics import fmean, median

from trainsleuth.finding import Finding
from trainsleuth.trace import Event, Trace, shown

from ._parameters import NEEDED_READINGS, Row, Table, fail, names
from ._step_scaling import causes_of_large_steps

STARTED_AT_ZERO = 0.2  # of a parameter's norm
NEARLY_ALL = 0.9  # of the elements
STANDS_STILL = 1e-6  # of a parameter's norm, in its largest step; a thousandth is usual
NEEDED_STEPS_TO_STAND = 10
NEEDED_STEPS_TO_FALL = 20
ABOVE_START = 1.5  # times the first loss, over the last third of the steps
LARGE_UPDATE = 0.1  # of a parameter's norm, in its largest step
HUGE_UPDATE = 0.5  # of a parameter's norm: what it held before is gone
MOST = 0.5  # of the elements
NO_BETTER = 0.9  # of the first loss of a supervised task
FAR_ABOVE_START = 3.0  # times the first loss of any other
VARIES = 2  # times the fewest losses in a step
CLEARED = 3  # times that gradients were cleared without a step
SHRUNK = 0.1  # of a parameter's first norm
ROUNDED_OFF = 0.02  # of the elements with a gradient: fewer than these ever changed


def idle(trace: Trace, table: Table) -> Iterator[Finding]:
    """One of several optimizers never steps, though gradients reach its parameters and are cleared."""
    for born in trace.events("optimizer"):
        number = born["optimizer"]
        held = table.of(number)  # whatever requires_grad says at a step of another: Lightning switches it off meanwhile
        is_reached = any(graph["reached"][number : number + 1] > [0] for graph in trace.events("graph")) or any(
            number in op.get("reached", ())
            for op in trace.ops("backward_done")  # in a later phase of the program
        )
        if number in trace.stepping or not held or any(row.changed for row in held) or not is_reached:
            continue
        ops = [op for op in trace.ops("backward", "zero_grad") if op["op"] == "backward" or _clears(op, number)]
        cleared = sum(one["op"] == "backward" and after["op"] == "zero_grad" for one, after in pairwise(ops))
        if cleared < CLEARED or trace.ops("scaler_step"):
            continue  # a scaler skips steps whose gradients are not finite
        yield fail(
            born.get("site"),
            f"{born.get('cls')} built at {shown(born)} never stepped in {table.steps} steps of the program: its {len(held)} parameters got "
            f"gradients, which were cleared {cleared} times, and none of them ever changed; expected a step after its backward",
            "step-order",
            measured={"steps": table.steps, "cleared": cleared, "parameters": len(held)},
            next="call step() of this optimizer after its backward, with parentheses",
            claims=("updates-not-applied",),
        )


def _clears(op: Event, number: int) -> bool:
    return op.get("optimizer") == number or number in op.get("optimizers", ())


def steps_on_nothing(trace: Trace, table: Table, optimizer: int, explained: bool) -> list[Finding]:
    """No parameter of this optimizer ever has a gradient, or none ever changes."""
    rows = [r for r in table.of(optimizer) if r.trainable]
    if not rows or max(r.seen for r in rows) < NEEDED_READINGS or any(r.changed for r in rows) or explained:
        return []
    step = next(op for op in trace.ops("step") if op["optimizer"] == optimizer)
    steps = [op for op in trace.ops("step") if op["optimizer"] == optimizer]
    if all(op["grads"] == "some" for op in steps):
        return []  # gradients are there: the learning rate is at fault, and its own probe says so
    suspect, stuck = "step-order", _stuck_at_zero(table) if step["grads"] == "zero" else []
    why = "look at what happens between backward and this step (clearing, a second copy of the model)"
    zeros = ""
    if not any(map(_is_cleared_late, trace.cycles(optimizer))):  # then there never were any
        suspect = "loss-cut-from-graph" if any(row.called for row in rows) else "optimizer-misses-parameters"
        if stuck:
            suspect = "frozen-parameters"
            zeros = f"; {len(stuck)} beside them, {stuck[0].name} first, are frozen at zero, and a product with zero passes no gradient on"
            why = "let the matrices of zeros learn too (requires_grad), or start them at other values"
    return [
        fail(
            step.get("site"),
            f"{len(steps)} steps of {trace.optimizer(optimizer).get('cls')} at {shown(step)} changed none of its "
            f"{len(rows)} parameters: their gradients were {step['grads']} when it stepped{zeros}; expected gradients there",
            suspect,
            confidence="medium",  # an effect: the step trace names what emptied them
            measured={"steps": len(steps)},
            next=why,
            claims=("updates-not-applied",),
        )
    ]


def _stuck_at_zero(table: Table) -> list[Row]:
    return [row for row in table.rows if row.frozen_zero and row.called and row.root in table.trained_roots]


def _is_cleared_late(cycle: tuple[Event, ...]) -> bool:
    """Are gradients cleared between the last backward and the step?"""
    names = [op["op"] for op in cycle if op["op"] in ("backward", "zero_grad")]
    return names[-1:] == ["zero_grad"] and "backward" in names


def shrunk(trace: Trace, table: Table, optimizer: int) -> list[Finding]:
    """Nearly all weights have shrunk to a small part of what they were: decay outweighs the gradients."""
    rows = [r for r in table.of(optimizer) if r.changed and isinstance(r.size, float)]
    small = [r for r in rows if isinstance(r.size, float) and r.size < SHRUNK]
    elements = sum(r.elements for r in rows)
    decays = [float(group.get("weight_decay") or 0.0) for group in trace.optimizer(optimizer).get("groups", ())]
    if not elements or sum(r.elements for r in small) < NEARLY_ALL * elements or not any(decays):
        return []
    step = next(op for op in trace.ops("step") if op["optimizer"] == optimizer)
    largest = max(float(r.size or 0.0) for r in small)
    return [
        fail(
            step.get("site"),
            f"{table.steps} steps of {trace.optimizer(optimizer).get('cls')} at {shown(step)} shrank {len(small)} of {len(rows)} "
            f"parameters to {largest:.2g} of their first norm or less; its weight decay is {max(decays):.3g}; expected weights "
            "that keep their size",
            "hyperparameters",
            severity="warning",
            confidence="medium",
            measured={
                "shrunk": len(small),
                "largest_share_left": largest,
                "weight_decay": max(decays),
                "steps": table.steps,
            },
            next="divide the weight decay by ten; usual values are 0.0001 to 0.1",
        )
    ]


def stands_still(trace: Trace, table: Table, optimizer: int) -> list[Finding]:
    """Gradients arrive and the rate is not zero, yet no update is large enough to matter."""
    rows = [r for r in table.of(optimizer) if r.trainable and r.gradients > r.zeros]
    # what started at zero is as large as its own updates
    ratios = sorted(r.ratio for r in rows if isinstance(r.ratio, float) and r.ratio < STARTED_AT_ZERO)
    rates = [max(tick["lr"].get(str(optimizer)) or [0.0]) for tick in trace.events("tick")]
    if len(rates) < NEEDED_STEPS_TO_STAND or not ratios or max(ratios) >= STANDS_STILL or not rates[-1] > 0.0:
        return []
    if rates[-1] > 1.01 * rates[len(rates) // 2]:
        return []  # a warm-up that is still on its way
    step = next(op for op in trace.ops("step") if op["optimizer"] == optimizer)
    moved = sum(r.changed for r in rows)
    return [
        fail(
            step.get("site"),
            f"{len(rates)} steps of {trace.optimizer(optimizer).get('cls')} at {shown(step)} moved {moved} of {len(rows)} parameters "
            f"with gradients, none by more than {max(ratios):.2g} of its size in a step, at a learning rate of {rates[-1]:.3g}; "
            "expected about a thousandth",
            "learning-rate-zero-or-tiny",
            severity="warning",
            measured={"largest_update_ratio": max(ratios), "rate": rates[-1], "moved": moved, "steps": len(rates)},
            next="raise the rate, or keep parameters in float32: in half precision small updates are lost to rounding",
            claims=("update-ratio",),
        )
    ]


def rounded_off(trace: Trace, table: Table, optimizer: int) -> list[Finding]:
    """Parameters in half precision whose updates are smaller than the distance to the next number."""
    rows = [r for r in table.of(optimizer) if r.trainable and r.nonzero and r.moved is not None]
    elements = sum(r.elements for r in rows)
    steps = [op for op in trace.ops("step") if op["optimizer"] == optimizer]
    if not rows or table.steps < NEEDED_STEPS_TO_STAND or max((op["lr"] or [0.0])[0] for op in steps) == 0.0:
        return []
    lost = sum(r.elements for r in rows if (r.moved or 0.0) < ROUNDED_OFF * (r.nonzero or 0.0))
    if lost < NEARLY_ALL * elements:
        return _rounded_off_in_part(trace, table, optimizer, rows, steps)
    born = trace.optimizer(optimizer)
    return [
        fail(
            steps[0].get("site"),
            f"steps of {born.get('cls')} at {shown(steps[0])} change fewer than {ROUNDED_OFF:.0%} of the elements of {lost / elements:.0%} of "
            f"its half-precision parameters, though their gradients are not zero: at a rate of {steps[-1]['lr'][0]:.3g} updates "
            "are smaller than the distance to the next number; expected parameters in float32 under autocast",
            "learning-rate-zero-or-tiny",
            severity="warning",
            measured={"elements": elements, "lost": lost, "rate": steps[-1]["lr"][0], "steps": table.steps},
            next="keep the parameters in float32 and let autocast use half precision for the computation",
            claims=("update-ratio",),
        )
    ]


def _rounded_off_in_part(
    trace: Trace, table: Table, optimizer: int, rows: list[Row], steps: list[Event]
) -> list[Finding]:
    """Whole parameters of which no element ever moved, as the scales of norms at 1 mostly are in bfloat16."""
    rates = [(op["lr"] or [0.0])[0] for op in steps]
    still = [r for r in rows if not r.changed and r.gradients > r.zeros and (r.nonzero or 0.0) >= MOST]
    if not still or rates[-1] > 1.01 * rates[len(rates) // 2]:
        return []  # none, or a warm-up that is still on its way
    share = sum(r.elements for r in still) / sum(r.elements for r in rows)
    return [
        fail(
            steps[0].get("site"),
            f"{len(still)} of {len(rows)} half-precision parameters of {trace.optimizer(optimizer).get('cls')} ({share:.1%} of their elements: "
            f"{names(still)}) did not change in a single element over {table.steps} steps, though their gradients are not zero: at a rate of "
            f"{rates[-1]:.3g} their updates are smaller than half of the distance to the next number; expected parameters in float32",
            "learning-rate-zero-or-tiny",
            severity="warning" if share >= MOST else "note",
            confidence="medium",
            measured={"still": len(still), "share": round(share, 4), "rate": rates[-1], "steps": table.steps},
            next="keep the parameters in float32 and let autocast use half precision, or an optimizer that rounds by chance",
            claims=("update-ratio",),
        )
    ]


def _grows(trace: Trace) -> bool:
    """The loss is a sum over as many terms as the steps of an episode: that it rises says nothing of the rate."""
    told = [
        sum(op["op"] == "loss" and bool(op["grad"]) for op in cycle)
        for number in trace.stepping
        for cycle in trace.cycles(number)
    ]
    return bool(told) and max(told) > VARIES * max(1, min(told))


def _grows_from_zero(row: Row) -> bool:
    """As one half of LoRA does: any first step is large."""
    return row.changed and row.size is None


def too_fast(trace: Trace, table: Table) -> list[Finding]:
    """Steps are a large part of the weights themselves, and the loss ends above its start, or no better."""
    rows = [r for r in table.rows if r.optimizer is not None and not _grows_from_zero(r)]
    held = [(r.ratio, r.elements) for r in rows if isinstance(r.ratio, float)]
    ticks = [t["losses"] for t in trace.events("tick") if t["losses"]]
    values = [fmean(losses) for losses in ticks if all(isinstance(value, float) for value in losses)]
    if len(trace.stepping) != 1 or not held or len(values) < NEEDED_STEPS_TO_FALL or values[0] <= 0 or _grows(trace):
        return []
    supervised = any(call["training"] and call.get("target") for call in trace.events("loss"))
    first, last = max(values[:3]), median(values[-len(values) // 3 :])
    typical = sorted(ratio for ratio, _ in held)[len(held) // 2]
    rewritten = sum(size for ratio, size in held if ratio >= HUGE_UPDATE) / sum(size for _, size in held)
    rises = supervised and typical >= LARGE_UPDATE and first > 0 and last > ABOVE_START * first
    stays = rewritten >= MOST and last > (NO_BETTER if supervised else FAR_ABOVE_START) * values[0]
    if not (rises or stays):
        return []
    destroyed = stays and rewritten >= NEARLY_ALL and typical >= HUGE_UPDATE  # whatever else is seen follows from it
    what = f"half of the parameters by {typical:.2g}" if rises else f"{rewritten:.0%} of all elements by {HUGE_UPDATE}"
    step = trace.ops("step")[0]
    return [
        fail(
            step.get("site"),
            f"the loss goes from {values[0]:.3g} to {last:.3g} in {len(values)} steps, and a step at {shown(step)} changes {what} of "
            "their size or more; expected a fall, and steps of about a thousandth",
            *causes_of_large_steps(trace),
            severity="error" if destroyed else "warning",
            confidence="high" if destroyed else "medium",
            measured={"first_loss": values[0], "last_loss": last, "update_ratio": typical, "steps": len(values)},
            next="divide the learning rate by ten until the loss falls, or run the probe lr_range",
            claims=("update-ratio", "edge-of-stability-lr"),
        )
    ]
