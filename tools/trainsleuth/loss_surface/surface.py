"""What was evaluated, and what it says."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_FLAT = 1e-12  # gradients below are none
_AGREE = 0.01  # relative difference between autograd and finite differences


class SurfaceError(ValueError):
    """The loss could not be evaluated; the message says why."""


@dataclass(frozen=True)
class Ask:
    """`loss` is FILE.py:NAME or MODULE:NAME, called with (prediction, target).

    The prediction of `shape` is zero but for the elements `axes` (places in the flattened tensor, one or two), which
    run from `low` to `high` in `points` steps. `target` is an expression of torch in which `prediction` is known.
    """

    loss: str
    shape: tuple[int, ...] = (1, 2)
    target: str = "torch.zeros_like(prediction)"
    axes: tuple[int, ...] = (0, 1)
    low: float = -5.0
    high: float = 5.0
    points: int = 41


@dataclass(frozen=True)
class Point:
    """One place of the plane: the loss, the gradient of autograd and the slope by finite differences, per axis."""

    at: tuple[float, ...]
    value: float
    gradient: tuple[float, ...]
    slope: tuple[float, ...]

    @property
    def is_finite(self) -> bool:
        return all(map(math.isfinite, (self.value, *self.gradient)))

    @property
    def is_flat(self) -> bool:
        return self.is_finite and all(abs(one) < _FLAT for one in self.gradient)

    @property
    def disagrees(self) -> bool:
        """Autograd says something else than the values do."""
        return self.is_finite and any(
            math.isfinite(slope) and abs(gradient - slope) > _AGREE * max(abs(slope), abs(gradient), 1e-4)
            for gradient, slope in zip(self.gradient, self.slope, strict=True)
        )


@dataclass(frozen=True)
class Surface:
    """The points row by row, the first axis running fastest."""

    ask: Ask
    ticks: tuple[float, ...]
    points: tuple[Point, ...]

    @classmethod
    def of(cls, ask: Ask, plain: Mapping[str, Any]) -> Surface:
        ticks = tuple(plain["ticks"])
        return cls(ask, ticks, tuple(_points(ticks, len(ask.axes), plain["rows"])))

    @property
    def lowest(self) -> Point | None:
        """The finite point with the least loss; the one nearest to zero among equals."""
        finite = [point for point in self.points if point.is_finite]
        return min(finite, key=lambda point: (point.value, sum(map(abs, point.at))), default=None)

    def share(self, what: str) -> float:
        """Share of the points that are "flat", "not finite", or where autograd "disagrees"."""
        asked: Mapping[str, Callable[[Point], bool]] = {
            "flat": lambda point: point.is_flat,
            "not finite": lambda point: not point.is_finite,
            "disagrees": lambda point: point.disagrees,
        }
        return sum(map(asked[what], self.points)) / len(self.points)


def _points(ticks: Sequence[float], axes: int, rows: Sequence[Any]) -> Iterator[Point]:
    for place, (value, gradient, slope) in enumerate(rows):
        up, right = divmod(place, len(ticks))
        at = (ticks[right], ticks[up])[:axes]
        yield Point(at, _number(value), tuple(map(_number, gradient)), tuple(map(_number, slope)))


def _number(value: float | None) -> float:
    return math.nan if value is None else value
