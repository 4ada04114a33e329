"""How a rule about the order of a step words what it found."""

from __future__ import annotations

from trainsleuth.finding import Finding, Link, Severity
from trainsleuth.trace import Event, place

NEEDED_CYCLES = 2  # in which a rule must be broken before it speaks


def finding(op: Event, message: str, suspect: str, severity: Severity = "error", **more: object) -> Finding:
    path, line = place(op.get("site"))
    more.setdefault("confidence", "high")
    return Finding(
        by="probe:step_trace", outcome="fail", severity=severity, message=message, path=path,
        line=line, suspects=(suspect,), family="training-procedure", **more,  # type: ignore[arg-type]
    )  # fmt: skip


def links(*steps: tuple[Event, str]) -> tuple[Link, ...]:
    found = []
    for op, why in steps:
        path, line = place(op.get("site"))
        if path and line:
            found.append(Link(path, line, why))
    return tuple(found)
