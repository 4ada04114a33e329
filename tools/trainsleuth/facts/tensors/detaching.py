"""Tensors that are detached by a statement of their own: `norm.detach_()`."""

from __future__ import annotations

from ..memo import kept_per_function
from ..reading.scopes import encloses, is_sibling, reaching
from ..records import Function
from ..tracing.things import Spot


@kept_per_function
def _statements(function: Function) -> dict[str, tuple[int, ...]]:
    """Positions of `x.detach_()` statements, by x."""
    found: dict[str, tuple[int, ...]] = {}
    for position, event in enumerate(function.events if "detach_" in function.called else ()):
        value = event.value if event.kind == "expression" else None
        if value is not None and value.kind == "call" and value.last == "detach_" and value.receiver is not None:
            name = value.receiver.text
            found[name] = (*found.get(name, ()), position)
    return found


def detached_at(name: str, spot: Spot) -> tuple[int, bool]:
    """(line, surely) of the statement that detaches what `name` holds at `spot`; line 0 when there is none."""
    function = spot.function
    positions = _statements(function).get(name)
    if not positions:
        return 0, False
    made = [b.position for b in reaching(function, name, spot.position)[0] if b.position < spot.position]
    here = function.events[spot.position].block if spot.position < len(function.events) else None
    for position in positions:
        event = function.events[position]
        if max(made, default=-1) <= position < spot.position and not (here and is_sibling(event.block, here)):
            return event.line, here is not None and encloses(event.block, here)
    return 0, False
