"""Everything that a value is computed from: the walk back through names, operations and helpers."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterator
from typing import TYPE_CHECKING

from ..reading.scopes import Item
from ..records import Class, Expr
from ..tracing.flow import Origin
from ..tracing.things import Spot
from ..words import words
from .detaching import detached_at
from .operations import CUTTING_BUILTINS, CUTTING_METHODS

if TYPE_CHECKING:
    from ..index import Index

MAX_STEPS = 600
MAX_CALLS = 4  # helpers inside helpers
_ITSELF: Item = ""  # a tensor is asked for: no tuple or record that it may be packed in
_OF_TENSORS = words(
    "abs square sqrt exp log log1p mean sum std var norm softmax log_softmax sigmoid relu square_ logsumexp"
)
_RECORDS = words("dataclass define frozen s attrs NamedTuple TypedDict ModelOutput BaseModel")
_PACKS = ("tuple", "list", "dict")
_NO_NUMBERS = ("string", "number", "constant", "lambda")


_Step = tuple[Expr, Spot, tuple[Item, ...]]


def ingredients(
    index: Index, expr: Expr, spot: Spot, through_cuts: bool = True, closed: Container[str] = ()
) -> Iterator[tuple[Expr, Spot]]:
    """Every expression that goes into `expr`, itself first, each where it is computed; nearest first.

    Wide: all alternatives of a name are in it. `through_cuts` False stops where the graph is left behind:
    detach(), item(), .data, no_grad(), a statement x.detach_(); then what is yielded can receive a gradient. Calls
    whose last name is in `closed` are yielded and not looked into.
    """
    return index.walking.back(expr, spot, through_cuts, closed)


class Walking:
    """Keeps each step back, since losses are computed from the same things and several questions start at one loss."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self._steps: dict[object, tuple[_Step, ...]] = {}
        self._cut: dict[object, bool] = {}

    def back(self, expr: Expr, spot: Spot, through_cuts: bool, closed: Container[str]) -> Iterator[tuple[Expr, Spot]]:
        """See `ingredients`."""
        waiting: deque[_Step] = deque([(expr, spot, ())])
        seen: set[object] = set()
        while waiting and len(seen) < MAX_STEPS:
            step = expr, spot, items = waiting.popleft()
            key = (expr.text, spot, items) if expr.kind == "path" else step
            if key in seen:
                continue
            if not through_cuts:
                if key not in self._cut:
                    self._cut[key] = self._is_cut(expr, spot)
                if self._cut[key]:
                    continue
            seen.add(key)
            yield expr, spot
            if expr.kind == "call" and closed and expr.last in closed:
                continue
            if key not in self._steps:
                self._steps[key] = tuple(self._before(expr, spot, items))
            waiting += self._steps[key]

    def _is_cut(self, expr: Expr, spot: Spot) -> bool:
        if expr.kind == "path":
            return bool(detached_at(expr.text, spot)[0]) or expr.last == "data"
        last = expr.last
        if expr.kind == "call" and (last in CUTTING_METHODS or expr.callee in CUTTING_BUILTINS):
            return True
        return last == "data" or self.index.values.is_without_grad(spot)

    def _before(self, expr: Expr, spot: Spot, items: tuple[Item, ...]) -> Iterator[_Step]:
        if expr.kind == "path":
            yield from self._origins(expr, spot, items)
        elif expr.kind == "call":
            yield from self._call(expr, spot, items)
        elif expr.kind in ("tuple", "list") and items and isinstance(items[0], int) and items[0] < len(expr.parts):
            yield expr.parts[items[0]], spot, items[1:]
        elif expr.kind not in _NO_NUMBERS and not (expr.kind in _PACKS and items == (_ITSELF,)):
            yield from ((part, spot, ()) for part in expr.parts)

    def _origins(self, expr: Expr, spot: Spot, items: tuple[Item, ...]) -> Iterator[_Step]:
        found: list[Origin] = [o for o in self.index.flow.origins(expr.text, spot) if o.expr is not None]
        for origin in found:
            if origin.expr is not None:
                yield origin.expr, origin.spot, (*origin.items, *items) if origin.kind != "for" else ()
        head, _, last = expr.text.rpartition(".")
        if not found and head and last in ("T", "mT", "data", "values", "logits", "loss"):
            yield Expr("path", head, (), expr.line), spot, ()

    def _call(self, call: Expr, spot: Spot, items: tuple[Item, ...]) -> Iterator[_Step]:
        if items == (_ITSELF,) and self._makes_record(call, spot):
            return
        depth = spot.frame.depth if spot.frame is not None else 0
        targets = list(self.index.calling.run_by(call, spot))
        for target in targets[:4] if depth < MAX_CALLS else ():
            if target.function.name != "__init__":
                frame = self.index.frames.frame(target.function, call, spot, target.owner)
                yield from ((value, at, items) for value, at in self.index.frames.returns(frame))
        receiver = call.receiver
        if receiver is not None and not (receiver.kind == "path" and _is_namespace(receiver.text, spot)):
            yield receiver, spot, (_ITSELF,) if call.last in _OF_TENSORS and receiver.kind in ("path", "call") else ()
        for part in call.parts[1:]:
            yield (part.parts[0] if part.kind in ("keyword", "star", "doublestar") else part), spot, ()

    def _makes_record(self, call: Expr, spot: Spot) -> bool:
        """An object of a class of the project with fields that were declared."""
        cls = self.index.resolve(spot.function, call.callee) if call.callee else None
        if not isinstance(cls, Class):
            return False
        names = [
            *(mark.last for mark in cls.decorators),
            *(one.rpartition(".")[2] for one in self.index.external_bases(cls)),
        ]
        return not _RECORDS.isdisjoint(names)


def _is_namespace(path: str, spot: Spot) -> bool:
    """A module, self, or an attribute: no value by itself."""
    return "." in path or path == spot.function.self_name
