"""Rules of a step: how its gradients are clipped, scaled and summed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from statistics import median

from trainsleuth.finding import Finding
from trainsleuth.trace import Event, Trace, shown

from ._step_words import NEEDED_CYCLES, finding

LITTLE = 1e-4  # of a gradient, which no rate that suits an unclipped one makes up for


def clips_nothing(trace: Trace) -> Iterator[Finding]:
    """Clipping that always meets empty gradients, comes after the step that it should bound, or leaves next to nothing."""
    clips = trace.ops("clip")
    if len(clips) < NEEDED_CYCLES:
        return
    by_site: dict[object, list[Event]] = {}
    for op in clips:
        by_site.setdefault(op.get("site"), []).append(op)
    order = trace.ops("backward", "clip", "step", "zero_grad")
    for ops in by_site.values():
        idle = all(op["grads"] in ("none", "zero") and not _is_zero_by_itself(order, op) for op in ops)
        # the first step may be judged wrongly when gradients of a loading phase linger
        late = all(_follows_step(order, op) for op in ops)
        if len(ops) >= NEEDED_CYCLES and _leave_nothing(trace, ops):
            yield finding(
                ops[0],
                f"gradient clipping at {shown(ops[0])} has the limit 0 in all {len(ops)} calls seen, so that nothing is left of any gradient (norm {ops[0]['norm']:.3g} "
                "before); expected a positive limit",
                "learning-rate-zero-or-tiny",
                measured={"calls": len(ops), "limit": 0.0},
                next="look where the limit comes from: False counts as 0",
            )
        elif len(ops) >= NEEDED_CYCLES and (share := _share_left(trace, ops)) < LITTLE:
            limit = ops[0].get("limit") or 0.0
            yield finding(
                ops[0],
                f"gradient clipping at {shown(ops[0])} leaves {share:.1g} of each gradient, by the middle one of {len(ops)} calls (limit {limit:g}), and SGD "
                "steps by what is left: nothing is learned at this rate; expected a limit near the norms that are met, so that it cuts off the largest",
                "learning-rate-zero-or-tiny",
                severity="warning",
                measured={"calls": len(ops), "limit": limit, "share": share},
                next="look where the limit comes from, and print the norm that clipping gives back",
            )
        elif len(ops) >= NEEDED_CYCLES and (idle or late):
            what = "meets no gradients" if idle else "comes after the step it should bound"
            yield finding(
                ops[0],
                f"gradient clipping at {shown(ops[0])} {what} in all {len(ops)} calls seen; "
                "expected it between backward and step",
                "step-order",
                severity="warning",
                measured={"calls": len(ops), "limit": ops[0].get("limit") or 0.0},
                next="move the clipping between backward and step and run this probe again",
            )


def _leave_nothing(trace: Trace, clips: list[Event]) -> bool:
    """Their limit is 0, and the steps of what they clip have nothing left: not where one part is to stay as it is."""
    clipped = {number for op in clips for number in op.get("optimizers", ())}
    steps = [op for op in trace.ops("step") if op["optimizer"] in clipped]
    is_zero = all(op.get("limit") == 0.0 and (op.get("norm") or 0.0) > 0.0 for op in clips)
    return is_zero and bool(steps) and all(op["grads"] != "some" for op in steps)


def _share_left(trace: Trace, clips: list[Event]) -> float:
    """The middle one of what clipping multiplies gradients with, 1 where their norm is not known or a step does not grow with
    them.
    """
    owners = {number for op in clips for number in op.get("optimizers", ())}
    if not owners or any(trace.optimizer(number).get("cls") != _SCALED for number in owners):
        return 1.0
    return median(_share(op.get("limit"), op.get("norm")) for op in clips)


def _share(limit: object, norm: object) -> float:
    if isinstance(limit, float) and isinstance(norm, float) and 0.0 < limit < norm:
        return limit / norm
    return 1.0


def _follows_step(order: tuple[Event, ...], clip: Event) -> bool:
    """The last of backward and step before this clip was a step."""
    return _last_before(order, clip, "backward", "step") == "step" and clip["grads"] == "some"


def _is_zero_by_itself(order: tuple[Event, ...], clip: Event) -> bool:
    """A backward has just given these gradients: that they are zero is no matter of order."""
    return clip["grads"] == "zero" and _last_before(order, clip, "backward", "step", "zero_grad") == "backward"


def _last_before(order: tuple[Event, ...], clip: Event, *names: str) -> str:
    place_of = next(i for i, op in enumerate(order) if op is clip)
    return next((op["op"] for op in reversed(order[:place_of]) if op["op"] in names), "")


def clips_scaled(trace: Trace) -> Iterator[Finding]:
    """Clipping between a scaled backward and the scaler's step without unscale_."""
    if not trace.ops("scaler_scale"):
        return
    scaled = False
    bad = []
    for op in trace.ops("scaler_scale", "scaler_unscale", "clip", "step"):
        if op["op"] == "scaler_scale":
            scaled = True
        elif op["op"] in ("scaler_unscale", "step"):
            scaled = False
        elif scaled and op["grads"] == "some":
            bad.append(op)
    if len(bad) >= NEEDED_CYCLES:
        yield finding(
            bad[0],
            f"gradients are clipped at {shown(bad[0])} while still multiplied by the loss scale "
            f"(norm {bad[0].get('norm'):.3g} against limit {bad[0].get('limit')}); expected scaler.unscale_ before",
            "step-order",
            severity="warning",
            measured={"norm": bad[0].get("norm") or 0.0, "limit": bad[0].get("limit") or 0.0},
            next="call scaler.unscale_(optimizer) before clipping and compare the norm",
        )


def scaler_left_out(trace: Trace) -> Iterator[Finding]:
    """The loss is scaled, but the optimizer steps without the scaler."""
    if trace.ops("scaler_scale") and len(trace.ops("step")) >= NEEDED_CYCLES and not trace.ops("scaler_step"):
        step = trace.ops("step")[0]
        yield finding(
            step,
            f"the loss is scaled by a GradScaler, but {shown(step)} steps without it, on gradients that are "
            "still scaled; expected scaler.step(optimizer)",
            "step-order",
            next="replace the plain step by scaler.step(optimizer); scaler.update()",
        )


def accumulates_sums(trace: Trace) -> Iterator[Finding]:
    """Several backward calls of one line before each step, each from a mean loss that was not divided."""
    for number, cycles in _summed(trace):
        surely = all(map(_starts_from_losses, cycles))
        micro = sum(op["op"] == "backward" for op in cycles[0])
        backward = next(op for op in cycles[0] if op["op"] == "backward")
        cls = str(trace.optimizer(number).get("cls", "optimizer"))
        yield finding(
            backward,
            f"{cls} steps on the sum of {micro} gradients, each of a mean loss ({backward['value']:.4g} at {shown(backward)}, not "
            f"divided): a step is {micro} times that of one batch as large; expected loss / {micro} before backward",
            "accumulation-scale",
            severity="warning" if cls == _SCALED and surely else "note",
            measured={"micro_batches": micro, "cycles": len(cycles)},
            next=f"divide the loss by {micro}, or keep the sum knowing that the learning rate is {micro} times what it says",
            claims=("accumulation-divide",),
        )


def causes_of_large_steps(trace: Trace) -> tuple[str, ...]:
    """The rate, and what multiplies it in this run: gradients that are summed where the step grows with them."""
    scaled = [cycles for number, cycles in _summed(trace) if trace.optimizer(number).get("cls") == _SCALED]
    summed = any(all(map(_starts_from_losses, cycles)) for cycles in scaled)
    return ("learning-rate-too-high", "accumulation-scale") if summed else ("learning-rate-too-high",)


_SCALED = "SGD"  # its step is proportional to the gradient


def _summed(trace: Trace) -> Iterator[tuple[int, list[tuple[Event, ...]]]]:
    """Optimizers that step on plain sums of the gradients of several batches, each with its cycles."""
    for number in trace.stepping:
        cycles = [c for c in list(trace.cycles(number))[1:] if sum(op["op"] == "backward" for op in c) > 1]
        if len(cycles) >= NEEDED_CYCLES and all(map(_is_plain_sum, cycles)) and not _evaluates_again(trace, number):
            yield number, cycles


def _evaluates_again(trace: Trace, number: int) -> bool:
    """Its step calls a closure several times, as L-BFGS does: these are looks at one batch, not several batches."""
    own = [op for op in trace.ops("step", "step_done", "backward") if op.get("optimizer", number) == number]
    return any(one["op"] == "step" and after["op"] == "backward" for one, after in pairwise(own))


def _is_plain_sum(cycle: tuple[Event, ...]) -> bool:
    """New batches, one loss call each, one line of backward, nothing cleared in between, no mean divided."""
    backwards = [op for op in cycle if op["op"] == "backward"]
    losses = [op for op in cycle if op["op"] == "loss" and op["grad"]]
    between = cycle[cycle.index(backwards[0]) : cycle.index(backwards[-1])]
    if len({op.get("site") for op in backwards}) > 1 or len(losses) != len(backwards):
        return False
    if any(op["op"] == "zero_grad" for op in between) or not any(op["op"] == "forward" for op in between):
        return False
    return _starts_from_losses(cycle) or all(op.get("plain_mean") for op in backwards)


def _starts_from_losses(cycle: tuple[Event, ...]) -> bool:
    """The values of the loss calls are passed on unchanged."""
    losses = [op for op in cycle if op["op"] == "loss" and op["grad"]]
    backwards = [op for op in cycle if op["op"] == "backward"]
    pairs = [(loss["value"], op["value"]) for loss, op in zip(losses, backwards, strict=True)]
    numbers = all(isinstance(value, float) for pair in pairs for value in pair)
    return numbers and all(abs(one - other) <= 1e-4 * abs(one) for one, other in pairs)
