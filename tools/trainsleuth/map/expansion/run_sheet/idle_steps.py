"""A schedule that is made and never stepped, since a setting keeps its step() from running."""

from __future__ import annotations

from trainsleuth.facts import Event, Function

from ...configuration import Truth
from ...program import Program
from ...programs.standing import off


def idle_step(program: Program, truth: Truth, function: Function, made: Event) -> str:
    """The setting that keeps every step() of what `made` binds to a local name from running; "" where one may run."""
    name = made.targets[0].text if len(made.targets) == 1 and made.targets[0].kind == "path" else ""
    if not name or "." in name:
        return ""
    used = [event for event in function.events if event is not made and any(_reads(event, name))]
    steps = [call.line for event in used for call in event.calls if call.callee == f"{name}.step"]
    why = [off(program, truth, function, line) for line in steps]
    return why[0] if len(used) == len(steps) and why and all(why) else ""


def _reads(event: Event, name: str) -> list[str]:
    value = event.value.walk() if event.value is not None else ()
    return [part.text for part in value if part.kind == "path" and part.text.partition(".")[0] == name]
