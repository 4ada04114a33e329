"""The order of one step, as the evidence that a reader would otherwise collect."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding, Link, Outcome
from trainsleuth.trace import Event, Trace, place

SHOWN_OPS = ("batch", "forward", "loss", "backward", "clip", "step", "zero_grad", "schedule", "scaler_scale",
             "scaler_unscale", "scaler_step", "scaler_update")  # fmt: skip


def order(trace: Trace, found: bool, why: str) -> Finding:
    """The order of a typical step, as the evidence a reader would otherwise collect; open for the reason `why`."""
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
    outcome: Outcome = "open" if why else "pass"
    head = "the order of one step as it ran" if found or why else "one step runs in order"
    path, line = place(typical[-1].get("site"))
    return Finding(
        by="probe:step_trace", outcome=outcome, confidence="high", path=path, line=line, chain=tuple(links),
        message=f"{head}: {' > '.join(_folded(words))} ({trace.steps} steps seen{'; ' + why if why else ''})",
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
