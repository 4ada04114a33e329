"""The bookkeeping of following values backwards: answers kept, circles cut, work bounded."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from .records import Expr
from .scopes import Item
from .things import Spot

Answer = TypeVar("Answer")
MAX_STEPS = 4000  # of one question; the longest true chains seen took a few hundred
MAX_DEPTH = 8  # calls inside calls


class Following(Generic[Answer]):
    """Asks `produce` about an expression at a spot, once; a question inside itself has no alternatives of its own."""

    def __init__(self, produce: Callable[[Expr, Spot, tuple[Item, ...]], Iterable[Answer]], too_far: Answer) -> None:
        self._produce = produce
        self._too_far = too_far
        self._known: dict[object, tuple[Answer, ...]] = {}
        self._active: set[object] = set()
        self._incomplete = 0
        self._left = 0

    def ask(self, expr: Expr, spot: Spot, items: tuple[Item, ...]) -> tuple[Answer, ...]:
        frame = id(spot.frame) if spot.frame is not None else 0
        # a path may be made on the fly, so its id means nothing; other expressions live as long as their file
        made = id(expr) if expr.kind != "path" else 0
        key = (expr.kind, expr.text, made, id(spot.function), spot.position, frame, items)
        if key in self._known:
            return self._known[key]
        if key in self._active:
            self._incomplete += 1
            return ()
        if not self._active:
            self._left = MAX_STEPS
        self._left -= 1
        if self._left < 0 or (spot.frame is not None and spot.frame.depth > MAX_DEPTH):
            self._incomplete += 1
            return (self._too_far,)
        before = self._incomplete
        self._active.add(key)
        try:
            found = tuple(dict.fromkeys(self._produce(expr, spot, items)))
        finally:
            self._active.discard(key)
        if frame == 0 and self._incomplete == before:
            self._known[key] = found
        return found
