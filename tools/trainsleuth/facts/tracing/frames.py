"""Calls that are being followed: one frame for each call in each context."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..memo import kept_per_function
from ..records import Class, Expr, Function
from .things import Frame, Instance, Spot

if TYPE_CHECKING:
    from ..index import Index


class Frames:
    def __init__(self, index: Index) -> None:
        self.index = index
        self._frames: dict[object, Frame] = {}

    def frame(self, function: Function, call: Expr | None, caller: Spot | None, owner: Instance | None) -> Frame:
        """The frame of one call; the same call in the same context is always the same frame."""
        key = (function, call, caller, owner)
        found = self._frames.get(key)
        if found is None:
            found = self._frames[key] = Frame(function, call, caller, owner)
        return found

    def constructor_frame(self, owner: Instance, method: Function) -> Frame:
        """The frame in which `method` runs for `owner`: with the constructor's arguments where it is a
        constructor.
        """
        if owner.call is None or not isinstance(owner.kind, Class) or method.name != "__init__":
            return self.frame(method, None, None, owner)
        own = self.index.method(owner.kind, "__init__")
        frame = self.frame(own, owner.call, owner.spot, owner) if own is not None else None
        for _ in range(8):
            if frame is None or frame.function is method:
                break
            frame = self._base_frame(frame, owner)
        return frame or self.frame(method, None, None, owner)

    def _base_frame(self, frame: Frame, owner: Instance) -> Frame | None:
        """From a constructor to the one of the base class that it calls."""
        cls = self.index.class_of(frame.function)
        above = self.index.lineage(cls)[1:] if cls is not None else ()
        base = next((one.methods["__init__"] for one in above if "__init__" in one.methods), None)
        for position, event in enumerate(frame.function.events):
            for call in event.calls:
                if base is not None and call.last == "__init__" and call.receiver is not None:
                    return self.frame(base, call, Spot(frame.function, position, frame, frame.reach), owner)
        return None

    def returns(self, frame: Frame) -> Iterator[tuple[Expr, Spot]]:
        """Every value that the function of `frame` may return, where it is returned."""
        function = frame.function
        end = Spot(function, len(function.events), frame, frame.reach)
        for position, value in _returned(function):
            if not self.index.flow.is_dead(function.events[position].block, end):
                yield value, Spot(function, position, frame, frame.reach)


@kept_per_function
def _returned(function: Function) -> tuple[tuple[int, Expr], ...]:
    """The events that return a value."""
    return tuple(
        (position, event.value)
        for position, event in enumerate(function.events)
        if event.kind == "return" and event.value is not None
    )
