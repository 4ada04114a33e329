"""A user's loss over a plane of synthetic predictions: where it has a slope, and whether autograd agrees with it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from trainsleuth.launcher import Limits, launch
from trainsleuth.loss_surface.surface import Ask, Surface, SurfaceError

__all__ = ["Ask", "Surface", "SurfaceError", "measure"]

_SCRIPT = Path(__file__).parents[1] / "runtime" / "loss_plane.py"
_MARK = "trainsleuth-loss-plane: "


def measure(
    ask: Ask, *, seconds: float = 60.0, python: str | None = None, cancelled: Callable[[], bool] | None = None
) -> Surface:
    """Evaluates the loss in the user's interpreter, contained as every run is. Raises SurfaceError."""
    command = [python or sys.executable, str(_SCRIPT), json.dumps(asdict(ask))]
    run = launch(command, {}, limits=Limits(seconds, output_bytes=4_000_000), cancelled=cancelled)
    lines = run.output.splitlines()
    pieces = [line.removeprefix(_MARK) for line in lines if line.startswith(_MARK)]
    if run.exit_code or not pieces:
        told = [line for line in lines if line.strip()]
        raise SurfaceError(f"{ask.loss} could not be evaluated: {told[-1] if told else run.why}")
    plain: dict[str, Any] = json.loads("".join(pieces))
    return Surface.of(ask, plain)
