"""A loss surface as an answer: what it means, and a map in characters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TypeVar

from trainsleuth.answers.answer import FOUND, NOTHING_WRONG, Answer, Section
from trainsleuth.loss_surface.surface import Point, Surface

_Item = TypeVar("_Item")
_COLUMNS, _ROWS = 31, 11
_NOTICEABLE = 0.01  # share of the points


def surface_answer(surface: Surface) -> Answer:
    shares = {what: surface.share(what) for what in ("flat", "not finite", "disagrees")}
    lowest = surface.lowest
    ask = surface.ask
    remarks = tuple(_remarks(shares, lowest, ask.low, ask.high))
    suspect = shares["disagrees"] > _NOTICEABLE or shares["not finite"] > 0 or shares["flat"] == 1
    plain = {
        "loss": ask.loss, "shape": list(ask.shape), "target": ask.target, "axes": list(ask.axes),
        "range": [ask.low, ask.high], "points": len(surface.points), "shares": shares,
        "lowest": {"at": list(lowest.at), "value": lowest.value} if lowest else None,
        "claims": ["flat-parts-of-a-loss", "softmax-before-ce-gradient"],
    }  # fmt: skip
    return Answer(
        head=f"{ask.loss} over {len(surface.points)} predictions of shape {ask.shape}, target {ask.target}",
        sections=(
            Section("what it says:", remarks),
            Section("map (0 lowest, 9 highest, . without gradient, x not finite):", tuple(_map(surface))),
        ),
        plain=plain,
        tail="claims flat-parts-of-a-loss, softmax-before-ce-gradient",
        code=FOUND if suspect else NOTHING_WRONG,
    )


def _remarks(shares: dict[str, float], lowest: Point | None, low: float, high: float) -> Iterator[str]:
    if lowest:
        at = ", ".join(f"{one:.3g}" for one in lowest.at)
        border = any(one in (low, high) for one in lowest.at)
        further = ": on the border, it may fall further outside" if border and not lowest.is_flat else ""
        yield f"  lowest {lowest.value:.4g} at ({at}){further}"
    yield f"  no gradient at {shares['flat']:.1%} of the points: a prediction that starts there does not move"
    if shares["not finite"]:
        yield f"  not finite at {shares['not finite']:.1%} of the points"
    if shares["disagrees"] > _NOTICEABLE:
        yield (
            f"  autograd and finite differences disagree at {shares['disagrees']:.1%} of the points: "
            "a detach, a wrong sign or a custom backward"
        )
    else:
        kinks = f", but for {shares['disagrees']:.1%} of the points (kinks)" if shares["disagrees"] else ""
        yield f"  autograd agrees with finite differences{kinks}"


def _map(surface: Surface) -> Iterator[str]:
    """The first axis to the right, the second upwards."""
    size = len(surface.ticks)
    rows = [surface.points[start : start + size] for start in range(0, len(surface.points), size)]
    finite = [point.value for point in surface.points if point.is_finite]
    if not finite:
        return
    low, reach = min(finite), (max(finite) - min(finite)) or 1.0
    for row in _some(rows, _ROWS)[::-1]:
        yield "  " + "".join(_mark(point, low, reach) for point in _some(row, _COLUMNS))


def _some(items: Sequence[_Item], count: int) -> list[_Item]:
    """At most `count` of them, evenly apart, the first and the last among them."""
    if len(items) <= count:
        return list(items)
    return [items[round(place * (len(items) - 1) / (count - 1))] for place in range(count)]


def _mark(point: Point, low: float, reach: float) -> str:
    if not point.is_finite:
        return "x"
    return "." if point.is_flat else str(min(9, math.floor(10 * (point.value - low) / reach)))
