"""The order of one step, as the evidence that a reader would otherwise collect."""

from __future__ import annotations

from trainsleuth import step_order
from trainsleuth.finding import Finding, Link, Outcome
from trainsleuth.trace import Event, Trace, place

MAX_LINKS = 16


def order(trace: Trace, found: bool, why: str) -> Finding:
    """The order of a typical step, as the evidence a reader would otherwise collect; open for the reason `why`."""
    typical = step_order.typical(trace)
    links: list[Link] = []
    for op in step_order.shown(trace):
        path, line = place(op.get("site"))
        if path and line and len(links) < MAX_LINKS:
            through = f" (through {op['lib']})" if op.get("lib") else ""
            links.append(Link(path, line, f"{step_order.name(op)}{through}"))
    outcome: Outcome = "open" if why else "pass"
    head = "the order of one step as it ran" if found or why else "one step runs in order"
    path, line = place(typical[-1].get("site"))
    return Finding(
        by="probe:step_trace", outcome=outcome, confidence="high", path=path, line=line, chain=tuple(links),
        message=f"{head}: {step_order.told(trace)} ({trace.steps} steps seen{'; ' + why if why else ''})",
        measured={"steps": trace.steps, "optimizers": len(trace.stepping), **_clipped(typical)},
    )  # fmt: skip


def _clipped(cycle: tuple[Event, ...]) -> dict[str, float]:
    """The norm that clipping met and its limit, and the norm that the optimizer got."""
    clip = next((op for op in cycle if op["op"] == "clip" and isinstance(op.get("norm"), float)), None)
    norm = cycle[-1].get("norm")
    if clip is None or not isinstance(norm, float):
        return {}
    return {"norm_before_clipping": clip["norm"], "limit": clip.get("limit") or 0.0, "norm_at_step": norm}
