"""The bookkeeping of following values backwards: answers kept, circles cut, work bounded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from ..reading.scopes import Item
from ..records import Expr
from .things import Spot

Answer = TypeVar("Answer")
MAX_STEPS = 800  # of one question; the longest true chains seen took a few hundred
MAX_DEPTH = 8  # calls inside calls
MAX_NESTING = 40  # questions inside questions; each takes about ten Python frames
_NOTHING_CUT = 1 << 30  # deeper than any question


class Circles:
    """Questions that are being answered, the outermost first, shared by all who follow values in one index.

    `cut` is the outermost of them at which a circle was cut since the innermost began: what is found until that one is
    answered lacks its alternatives. -1 where following ended at a bound: then no answer on the way is whole.
    """

    def __init__(self) -> None:
        self.open: list[object] = []
        self.cut = _NOTHING_CUT


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
        self._outermost: dict[object, tuple[Answer, ...]] = {}  # known when nothing else is asked
        self._partial: dict[object, tuple[tuple[Answer, ...], int, object]] = {}  # within one outermost question
        self._active: dict[object, int] = {}
        self._circles = circles
        self._left = 0

    @contextmanager
    def afresh(self) -> Iterator[None]:
        """Questions asked inside have nothing to do with the one that is being answered."""
        before = self._active, self._partial, self._left, self._circles.cut
        self._active, self._partial = {}, {}
        try:
            yield
        finally:
            self._active, self._partial, self._left, self._circles.cut = before

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
        circles = self._circles
        depth = len(circles.open)
        if not depth and (known := self._outermost.get(key)) is not None:
            return known
        if (partial := self._partial.get(key)) is not None:
            found, cut, at = partial
            if cut < 0 or (cut < depth and circles.open[cut] is at):
                circles.cut = min(circles.cut, cut)
                return found
        if key in self._active:
            circles.cut = min(circles.cut, self._active[key])
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
            circles.cut = -1
            return (self._too_far,)
        return self._answered(expr, spot, items, key, asked)

    def _answered(
        self, expr: Expr, spot: Spot, items: tuple[Item, ...], key: object, asked: object
    ) -> tuple[Answer, ...]:
        circles = self._circles
        before, depth = circles.cut, len(circles.open)
        circles.cut = _NOTHING_CUT
        self._active[key] = depth
        circles.open.append(object())
        try:
            found = tuple(dict.fromkeys(self._produce(expr, spot, items)))
        finally:
            del self._active[key]
            circles.open.pop()
            cut, circles.cut = circles.cut, before
        if cut >= depth:
            self._known[key] = self._known[asked] = found
            return found
        self._partial[key] = found, cut, circles.open[cut] if cut >= 0 else None
        circles.cut = min(before, cut)
        if not depth:
            self._outermost[key] = found
        return found
