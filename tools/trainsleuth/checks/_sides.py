"""Which side of a program a statement stands on: where it trains, or where it evaluates."""

from __future__ import annotations

import re

from trainsleuth.facts import Function

_TRAINS = re.compile(r"(?:^|_)(?:train|training|fit)(?:_|$)", re.IGNORECASE)
_EVALUATES = re.compile(
    r"(?:^|_)(?:val|valid|validation|validate|test|eval|evaluate|evaluation|score)(?:_|$)", re.IGNORECASE
)


def side(function: Function, position: int) -> bool | None:
    """True where it trains, False where it evaluates, by the name of the function or the loop; None where nothing says so."""
    is_training, is_evaluating = bool(_TRAINS.search(function.name)), bool(_EVALUATES.search(function.name))
    if is_training is not is_evaluating and "backward" not in function.called:
        return is_training
    if is_training and not is_evaluating and not function.loops:
        return True
    loops = function.events[position].block.loops
    if not loops or "backward" not in function.called:
        return None
    inside = (event for event in function.events if event.block.loops[: len(loops)] == loops)
    return any(call.last == "backward" for event in inside for call in event.calls)
