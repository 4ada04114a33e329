"""What deepspeed.initialize() gives back: (engine, optimizer, loader, schedule), of what it is handed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainsleuth.facts import Expr, External

INITIALIZE: Final = External("deepspeed.initialize")
ENGINE: Final = External("deepspeed.DeepSpeedEngine")
_HANDED = ((1, "model"), (2, "optimizer"), (4, "training_data"), (5, "lr_scheduler"))


def handed_for(call: Expr, item: int | str) -> Iterator[Expr]:
    """What stands behind one of the four, where the call hands it over."""
    if isinstance(item, int) and item < len(_HANDED):
        place, name = _HANDED[item]
        if (given := call.argument(place, name)) is not None:
            yield given
