"""The bookkeeping of following values backwards: answers kept, circles cut, work bounded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from .records import Expr
from .scopes import Item
from .things import Spot

Answer = TypeVar("Answer")
MAX_STEPS = 800  # of one question; the longest true chains seen took a few hundred
MAX_DEPTH = 8  # calls inside calls
MAX_NESTING = 40  # questions inside questions; each takes about ten Python frames


class Circles:
    """Counts answers that had to be given before they were whole; shared by all who follow values in one
    index.
    """

    def __init__(self) -> None:
        self.count = 0


class Following(Generic[Answer]):
    """Asks `produce` about an expression at a spot, once; a question inside itself has no alternatives of
    its own.
    """

    def __init__(
        self,
        produce: Callable[[Expr, Spot, tuple[Item, ...]], Iterable[Answer]],
        too_far: Answer,
        circles: Circles,
        plain: Callable[[Expr, Spot], Spot],
    ) -> None:
        self._produce = produce
        self._plain = plain
        self._too_far = too_far
        self._known: dict[object, tuple[Answer, ...]] = {}
        self._partial: dict[object, tuple[Answer, ...]] = {}  # within one outermost question
        self._active: set[object] = set()
        self._circles = circles
        self._left = 0

    @contextmanager
    def afresh(self) -> Iterator[None]:
        """Questions asked inside have nothing to do with the one that is being answered."""
        before = self._active, self._partial, self._left, self._circles.count
        self._active, self._partial = set(), {}
        try:
            yield
        finally:
            self._active, self._partial, self._left, self._circles.count = before

    def ask(self, expr: Expr, spot: Spot, items: tuple[Item, ...]) -> tuple[Answer, ...]:
        # a path may be made on the fly, so its identity means nothing
        what = expr.text if expr.kind == "path" else expr
        key = asked = what, spot, items
        known = self._known.get(key)
        if known is not None:
            return known
        plain = self._plain(expr, spot)
        if plain is not spot:
            spot, key = plain, (what, plain, items)
            if (known := self._known.get(key)) is not None:
                self._known[asked] = known
                return known
        if (known := self._partial.get(key)) is not None:
            return known
        if key in self._active:
            self._circles.count += 1
            return ()
        if spot.frame is not None and spot.frame.depth > MAX_DEPTH:
            return (self._too_far,)  # whoever asks, so answers made with it are whole
        if spot.frame is not None and spot.frame.is_again:
            return ()
        if not self._active:
            self._left = MAX_STEPS
            self._partial.clear()
        self._left -= 1
        if self._left < 0 or len(self._active) >= MAX_NESTING:
            self._circles.count += 1
            return (self._too_far,)
        before = self._circles.count
        self._active.add(key)
        try:
            found = tuple(dict.fromkeys(self._produce(expr, spot, items)))
        finally:
            self._active.discard(key)
        if self._circles.count == before:
            self._known[key] = self._known[asked] = found
        else:
            self._partial[key] = found
        return found
