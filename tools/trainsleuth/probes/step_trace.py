"""In which order does one training step really happen?

Watches every backward, clip, optimizer step, zero_grad, scaler and scheduler call of the real program,
with the user's line and the framework's line. Several optimizers are judged each by its own cycle, so a
GAN whose generator leaves gradients in the discriminator is healthy as long as they are cleared before use.

Fails on: gradients that are never cleared between two steps; gradients cleared between backward and step;
clipping that meets no gradients; an optimizer that never steps; scaled gradients clipped or stepped without unscaling; plain SGD that steps
on the sum of several batches' mean losses (with other optimizers, which undo the scale, that is a note).
A pass shows the order of a typical step and rules those out; it says nothing about values.
Cost: a few percent of the first steps.
Cannot see: loops without a torch optimizer, CUDA graphs, a step inside torch.func.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from trainsleuth.finding import Finding, Link, Outcome, Severity
from trainsleuth.trace import Event, Trace, place, shown

EXPERIMENT = "observe"
NEEDED_CLEARINGS = 5  # of gradients that no step has used
NEEDED_BACKWARDS = 200  # without any clearing: more than gradients are ever summed over
NEEDED_CYCLES = 2  # seen by both the stale-gradient and the empty-step rule before they speak
SHOWN_OPS = ("batch", "forward", "loss", "backward", "clip", "step", "zero_grad", "schedule", "scaler_scale",
             "scaler_unscale", "scaler_step", "scaler_update")  # fmt: skip


def probe(trace: Trace) -> Iterator[Finding]:
    if not trace.stepping:
        yield from list(_never_steps(trace)) or [_no_step(trace)]
        return
    found = [
        finding
        for rule in (
            _stale_gradients,
            _cleared_before_step,
            _clips_nothing,
            _clips_scaled,
            _scaler_left_out,
            _accumulates_sums,
        )
        for finding in rule(trace)
    ]
    yield from found
    yield _order(trace, healthy=not found)


def _finding(op: Event, message: str, suspect: str, severity: Severity = "error", **more: object) -> Finding:
    path, line = place(op.get("site"))
    return Finding(
        by="probe:step_trace", outcome="fail", severity=severity, confidence="high", message=message, path=path,
        line=line, suspects=(suspect,), family="training-procedure", **more,  # type: ignore[arg-type]
    )  # fmt: skip


def _stale_gradients(trace: Trace) -> Iterator[Finding]:
    """Per optimizer: between two of its steps gradients were never empty at a backward, nor cleared."""
    for number in trace.stepping:
        stale, judged, norms = 0, 0, []
        for cycle in list(trace.cycles(number))[1:]:
            states = [op["grads"].get(str(number)) for op in cycle if op["op"] == "backward" and op.get("grads")]
            if not states:
                continue
            judged += 1
            stale += all(state == "some" for state in states) and not _is_cleared(cycle, number)
            norms.append(cycle[-1].get("norm"))
        if judged >= NEEDED_CYCLES and stale == judged:
            backward = next(op for op in trace.ops("backward"))
            step = next(op for op in trace.ops("step") if op["optimizer"] == number)
            cls = trace.optimizer(number).get("cls", "optimizer")
            yield _finding(
                backward,
                f"gradients of {cls} are never cleared: at {stale} of {judged} backward calls at {shown(backward)} "
                "they still held those of all earlier steps; expected zero_grad() once before each step",
                "missing-zero-grad",
                chain=_links((backward, "adds to gradients that were not cleared"), (step, "steps on their sum")),
                measured={"stale_cycles": stale, "judged_cycles": judged,
                          **{f"gradient_norm_{i + 1}": norm for i, norm in enumerate(norms[:3]) if norm is not None}},
                next=f"clear them before the backward at {backward.get('site')} and run this probe again",
                claims=("zero-grad-forgotten", "zero-grad-position-variants",),
            )  # fmt: skip


def _is_cleared(cycle: tuple[Event, ...], number: int) -> bool:
    return any(
        op["op"] == "zero_grad" and (op.get("optimizer") == number or number in op.get("optimizers", ()))
        for op in cycle
    )


def _cleared_before_step(trace: Trace) -> Iterator[Finding]:
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
            yield _finding(
                bad[0],
                f"zero_grad at {shown(bad[0])} runs between backward and step: all {len(bad)} steps at "
                f"{shown(step)} met empty gradients; expected the clearing before the backward or after the step",
                "step-order",
                chain=_links((bad[0], "clears what backward just computed"), (step, "steps on nothing")),
                measured={"steps_on_nothing": len(bad)},
                next="move zero_grad before the backward and run this probe again",
                claims=(
                    "zero-grad-forgotten",
                    "zero-grad-position-variants",
                ),
            )


def _clips_nothing(trace: Trace) -> Iterator[Finding]:
    """Clipping that always meets empty gradients, or always comes after the step that it should bound."""
    clips = trace.ops("clip")
    if len(clips) < NEEDED_CYCLES:
        return
    by_site: dict[object, list[Event]] = {}
    for op in clips:
        by_site.setdefault(op.get("site"), []).append(op)
    order = trace.ops("backward", "clip", "step", "zero_grad")
    for ops in by_site.values():
        idle = all(op["grads"] in ("none", "zero") for op in ops)
        # the first step may be judged wrongly when gradients of a loading phase linger
        late = all(_follows_step(order, op) for op in ops)
        if len(ops) >= NEEDED_CYCLES and (idle or late):
            what = "meets no gradients" if idle else "comes after the step it should bound"
            yield _finding(
                ops[0],
                f"gradient clipping at {shown(ops[0])} {what} in all {len(ops)} calls seen; "
                "expected it between backward and step",
                "step-order",
                severity="warning",
                measured={"calls": len(ops), "limit": ops[0].get("limit") or 0.0},
                next="move the clipping between backward and step and run this probe again",
            )


def _follows_step(order: tuple[Event, ...], clip: Event) -> bool:
    """The last of backward and step before this clip was a step."""
    place_of = next(i for i, op in enumerate(order) if op is clip)
    before = [op["op"] for op in order[:place_of] if op["op"] in ("backward", "step")]
    return bool(before) and before[-1] == "step" and clip["grads"] == "some"


def _clips_scaled(trace: Trace) -> Iterator[Finding]:
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
        yield _finding(
            bad[0],
            f"gradients are clipped at {shown(bad[0])} while still multiplied by the loss scale "
            f"(norm {bad[0].get('norm'):.3g} against limit {bad[0].get('limit')}); expected scaler.unscale_ before",
            "step-order",
            severity="warning",
            measured={"norm": bad[0].get("norm") or 0.0, "limit": bad[0].get("limit") or 0.0},
            next="call scaler.unscale_(optimizer) before clipping and compare the norm",
        )


def _scaler_left_out(trace: Trace) -> Iterator[Finding]:
    """The loss is scaled, but the optimizer steps without the scaler."""
    if trace.ops("scaler_scale") and len(trace.ops("step")) >= NEEDED_CYCLES and not trace.ops("scaler_step"):
        step = trace.ops("step")[0]
        yield _finding(
            step,
            f"the loss is scaled by a GradScaler, but {shown(step)} steps without it, on gradients that are "
            "still scaled; expected scaler.step(optimizer)",
            "step-order",
            next="replace the plain step by scaler.step(optimizer); scaler.update()",
        )


def _accumulates_sums(trace: Trace) -> Iterator[Finding]:
    """Several backward calls of one line before each step, each from a mean loss that was not divided."""
    for number in trace.stepping:
        cycles = [c for c in list(trace.cycles(number))[1:] if sum(op["op"] == "backward" for op in c) > 1]
        if len(cycles) < NEEDED_CYCLES or not all(_is_plain_sum(cycle) for cycle in cycles):
            continue
        micro = sum(op["op"] == "backward" for op in cycles[0])
        backward = next(op for op in cycles[0] if op["op"] == "backward")
        cls = str(trace.optimizer(number).get("cls", "optimizer"))
        yield _finding(
            backward,
            f"{cls} steps on the sum of {micro} gradients, each of a mean loss ({backward['value']:.4g} at {shown(backward)}, not "
            f"divided): a step is {micro} times that of one batch as large; expected loss / {micro} before backward",
            "accumulation-scale",
            severity="warning" if cls == "SGD" else "note",
            measured={"micro_batches": micro, "cycles": len(cycles)},
            next=f"divide the loss by {micro}, or keep the sum knowing that the learning rate is {micro} times what it says",
            claims=("accumulation-divide",),
        )


def _is_plain_sum(cycle: tuple[Event, ...]) -> bool:
    """New batches, one loss call each, one line of backward, nothing cleared in between, values passed on unchanged."""
    backwards = [op for op in cycle if op["op"] == "backward"]
    losses = [op for op in cycle if op["op"] == "loss" and op["grad"]]
    between = cycle[cycle.index(backwards[0]) : cycle.index(backwards[-1])]
    if len({op.get("site") for op in backwards}) > 1 or len(losses) != len(backwards):
        return False
    if any(op["op"] == "zero_grad" for op in between) or not any(op["op"] == "forward" for op in between):
        return False
    pairs = [(loss["value"], op["value"]) for loss, op in zip(losses, backwards, strict=True)]
    numbers = all(isinstance(value, float) for pair in pairs for value in pair)
    return numbers and all(abs(one - other) <= 1e-4 * abs(one) for one, other in pairs)


def _links(*steps: tuple[Event, str]) -> tuple[Link, ...]:
    found = []
    for op, why in steps:
        path, line = place(op.get("site"))
        if path and line:
            found.append(Link(path, line, why))
    return tuple(found)


def _order(trace: Trace, healthy: bool) -> Finding:
    """The order of the last complete step, as the evidence a reader would otherwise collect."""
    cycles = list(trace.cycles(trace.stepping[-1]))
    typical = cycles[min(2, len(cycles) - 1)]
    after = _until_next_batch(trace, typical[-1])
    shown_ops = [op for op in (*typical, *after) if op["op"] in SHOWN_OPS]
    words: list[str] = []
    links: list[Link] = []
    for op in shown_ops[:200]:
        name = op.get("fn") if op["op"] in ("loss", "clip") else op["op"]
        words.append(str(name))
        path, line = place(op.get("site"))
        if path and line and len(links) < 16:
            through = f" (through {op['lib']})" if op.get("lib") else ""
            links.append(Link(path, line, f"{name}{through}"))
    outcome: Outcome = "pass"
    head = "one step runs in order" if healthy else "the order of one step as it ran"
    path, line = place(typical[-1].get("site"))
    return Finding(
        by="probe:step_trace", outcome=outcome, confidence="high", path=path, line=line, chain=tuple(links),
        message=f"{head}: {' > '.join(_folded(words))} ({trace.steps} steps seen)",
        measured={"steps": trace.steps, "optimizers": len(trace.stepping), **_clipped(typical)},
    )  # fmt: skip


def _clipped(cycle: tuple[Event, ...]) -> dict[str, float]:
    """The norm that clipping met and its limit, and the norm that the optimizer got."""
    clip = next((op for op in cycle if op["op"] == "clip" and isinstance(op.get("norm"), float)), None)
    norm = cycle[-1].get("norm")
    if clip is None or not isinstance(norm, float):
        return {}
    return {"norm_before_clipping": clip["norm"], "limit": clip.get("limit") or 0.0, "norm_at_step": norm}


def _until_next_batch(trace: Trace, step: Event) -> list[Event]:
    """What follows the step before the next iteration begins (clearing, schedules)."""
    ops = trace.ops()
    rest = ops[next(i for i, op in enumerate(ops) if op is step) + 1 :]
    found = []
    for op in rest:
        if op["op"] in ("batch", "forward", "backward", "step"):
            break
        found.append(op)
    return found


def _folded(words: list[str]) -> Iterator[str]:
    """Repeats told once with their number, the longest repeated stretch first: micro-batches, closures."""
    at = 0
    while at < len(words):
        width, count = _repeat(words[at:])
        stretch = " > ".join(words[at : at + width])
        yield stretch if count == 1 else f"{stretch} x{count}" if width == 1 else f"({stretch}) x{count}"
        at += width * count


def _repeat(words: list[str]) -> tuple[int, int]:
    """(width, count) of the repetition at the start that covers most words."""
    best = (1, 1)
    for width in range(1, len(words) // 2 + 1):
        count = 1
        while words[count * width : (count + 1) * width] == words[:width]:
            count += 1
        if count > 1 and width * count > best[0] * best[1]:
            best = (width, count)
    return best


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
    yield _finding(
        backwards[0],
        f"{born.get('cls')} built at {shown(born)} never stepped in {len(backwards)} backward calls, the first at {shown(backwards[0])}, "
        f"and none of its {len(held)} parameters changed; expected optimizer.step() after backward",
        "step-order",
        measured={"backwards": len(backwards), "cleared": cleared, "parameters": len(held)},
        next="call optimizer.step() after the backward, and look for a condition that is never true around it",
        claims=("updates-not-applied",),
    )


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
