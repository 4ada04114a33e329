"""Tags that flow with tensors: the range of their numbers, and whether a gradient can flow back through
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from trainsleuth.finding import Link

from ..reading.scopes import Item
from ..records import Expr
from ..tracing.following import Following
from ..tracing.things import Instance, Spot
from .operations import NO_GRAD

if TYPE_CHECKING:
    from ..index import Index

MAX_CHAIN = 8
ENOUGH = 4  # ways to follow when one of them is nothing special: what is said of a tensor must hold in all
TOO_FAR = "too many ways to follow"  # the `why` of a value that was given up


class Value(NamedTuple):
    """One alternative for what a tensor expression gives.

    range: probability (softmax: sums to one), sigmoid, log-probability, logits (the output of a linear or
        convolution layer), rectified (relu: never negative), other (known to be none of these), unknown.
    grad: live (a path leads back to parameters), cut (surely none), leaf (an input of its own that requires a
        gradient), reborn (a leaf made from what was cut), data (from a loader), constant, unknown.
    before: of cut and reborn, the grad before the cut. is_bare: reborn, and nothing was computed from it
    since. chain: cause first. why: what was not resolved. layer: of torch, of which it is the output with the axes that this
    gave it, if only squashed since.
    """

    range: str = "unknown"
    grad: str = "unknown"
    chain: tuple[Link, ...] = ()
    before: str = ""
    why: str = ""
    is_bare: bool = False
    cut_at: Link | None = None
    layer: Instance | None = None

    def then(self, path: str, line: int, why: str) -> Value:
        """The same value one step further on its way."""
        if len(self.chain) >= MAX_CHAIN or (self.chain and self.chain[-1] == Link(path, line, why)):
            return self
        return self._replace(chain=(*self.chain, Link(path, line, why)))

    def reshaped(self) -> Value:
        """The same numbers, perhaps along other axes."""
        return self if self.layer is None else self._replace(layer=None)


def unknown(why: str) -> Value:
    return Value(why=why)


class Values:
    """`of` gives the alternatives; whether all or any of them count is for the one who asks.

    They are every one, or the first ones when these have a tensor of no known range that may receive a gradient.
    """

    def __init__(self, index: Index) -> None:
        from .tensor_calls import TensorCalls
        from .tensor_names import TensorNames

        self.index = index
        self._following: Following[Value] = Following(self._of, unknown(TOO_FAR), index.circles, index.needs.plain)
        self._calls = TensorCalls(index, self)
        self._names = TensorNames(index, self)

    def of(self, expr: Expr, spot: Spot, items: tuple[Item, ...] = ()) -> tuple[Value, ...]:
        """All alternatives for tensor expression `expr` at `spot`; `items` takes an element of a tuple or
        dict.
        """
        return self._following.ask(expr, spot, items)

    def one(self, expr: Expr, spot: Spot, items: tuple[Item, ...] = ()) -> Value:
        """The alternatives as one value: what they agree on."""
        return agreed(self.of(expr, spot, items))

    def _of(self, expr: Expr, spot: Spot, items: tuple[Item, ...]) -> Iterator[Value]:
        found = self._plain(expr, spot, items)
        if expr.kind in ("call", "binary", "attr", "unary") and self.is_without_grad(spot):
            place = (spot.function.path, expr.line, "computed under torch.no_grad()")
            found = (cut(value, *place) if value.grad in ("live", "unknown", "reborn") else value for value in found)
        decided = False
        for count, value in enumerate(found, 1):
            yield value
            decided = decided or (
                value.grad in ("live", "unknown") and value.range in ("other", "rectified", "unknown")
            )
            if decided and count >= ENOUGH:
                break

    def _plain(self, expr: Expr, spot: Spot, items: tuple[Item, ...]) -> Iterator[Value]:
        match expr.kind:
            case "path":
                yield from self._names.path(expr, spot, items)
            case "attr":
                yield from self._names.attribute(expr, spot, items)
            case "call":
                yield from self._calls.call(expr, spot, items)
            case "index":
                yield from self._index(expr, spot, items)
            case "choice":
                yield from self.of(expr.parts[0], spot, items)
                yield from self.of(expr.parts[2], spot, items)
            case "tuple" | "list":
                yield from self._sequence(expr, spot, items)
            case "each" if expr.text != "dict":
                yield self.one(expr.parts[0], spot, items[1:])
            case "dict":
                yield from self._dict(expr, spot, items)
            case "await" | "walrus" | "keyword":
                yield from self.of(expr.parts[0], spot, items)
            case "number" | "constant" | "string" | "compare":
                yield Value("other", "constant")
            case "binary" | "boolean":
                yield joined(self.one(part, spot) for part in expr.parts)
            case "unary":
                yield self.one(expr.parts[0], spot)._replace(range="other")
            case _:
                yield unknown(f"a {expr.kind} expression at line {expr.line}")

    def _sequence(self, expr: Expr, spot: Spot, items: tuple[Item, ...]) -> Iterator[Value]:
        first = items[0] if items else None
        if isinstance(first, int) and first < len(expr.parts) and not any(p.kind == "star" for p in expr.parts):
            yield from self.of(expr.parts[first], spot, items[1:])
        elif not expr.parts and expr.kind == "list":
            yield unknown(f"a list that begins empty at line {expr.line}")
        elif items or not expr.parts:
            yield (unknown(f"an element of a sequence at line {expr.line}") if items else Value("other", "constant"))
        else:
            yield agreed([self.one(part, spot) for part in expr.parts])

    def _dict(self, expr: Expr, spot: Spot, items: tuple[Item, ...]) -> Iterator[Value]:
        for pair in expr.parts:
            if items and pair.kind == "pair" and pair.parts[0].kind == "string" and pair.parts[0].text == items[0]:
                yield from self.of(pair.parts[1], spot, items[1:])
                return
        yield unknown(f"an entry of a dict at line {expr.line}")

    def _index(self, expr: Expr, spot: Spot, items: tuple[Item, ...]) -> Iterator[Value]:
        key = expr.parts[1] if len(expr.parts) == 2 else None
        if key is not None and key.kind == "string":
            yield from self.of(expr.parts[0], spot, (key.text, *items))
        elif key is not None and key.kind == "number" and key.text.isdigit() and self.is_sequence(expr.parts[0], spot):
            yield from self.of(expr.parts[0], spot, (int(key.text), *items))
        else:
            yield from (value.reshaped() for value in self.of(expr.parts[0], spot, items))

    def is_sequence(self, expr: Expr, spot: Spot) -> bool:
        """Indexing it by a number takes an element of a tuple or list, not a row of a tensor."""
        if expr.kind in ("tuple", "list"):
            return True
        if expr.kind == "path":
            found = [o for o in self.index.flow.origins(expr.text, spot) if o.expr is not None and not o.items]
            return bool(found) and all(self.is_sequence(o.expr, o.spot) for o in found if o.expr is not None)
        return expr.kind == "call" and self._calls.gives_sequence(expr, spot)

    def is_loader(self, source: Expr, spot: Spot) -> bool:
        """Iterating over it gives batches of data, as far as names and classes say."""
        return self._names.is_loader(source, spot)

    def is_without_grad(self, spot: Spot) -> bool:
        """The innermost gradient switch around `spot`, in its function, says off."""
        function = spot.function
        contexts = function.events[spot.position].block.contexts if spot.position < len(function.events) else ()
        for context in reversed(contexts):
            if context.last in NO_GRAD:
                given = context.argument(0, "mode") if context.kind == "call" else None
                return given is None or given.text != "False"
            if context.last == "enable_grad":
                return False
            if context.last == "set_grad_enabled" and context.kind == "call":
                given = context.argument(0, "mode")
                return given is not None and given.text == "False"
        return bool(function.decorators) and any(mark.last in NO_GRAD for mark in function.decorators)

    def returned(
        self, frame_returns: Iterable[tuple[Expr, Spot]], items: tuple[Item, ...], name: str
    ) -> Iterator[Value]:
        for expr, spot in frame_returns:
            for value in self.of(expr, spot, items):
                yield value.then(spot.function.path, spot.line, f"{name} returns it")


def range_noun(made: str) -> str:
    return {
        "probability": "probabilities",
        "sigmoid": "numbers in 0..1",
        "log-probability": "log-probabilities",
        "rectified": "numbers that are never negative",
    }.get(made, made)


def cut(value: Value, path: str, line: int, why: str) -> Value:
    """`value` after the graph behind it is gone."""
    if value.grad in ("constant", "data"):
        return value
    before = value.before if value.grad in ("cut", "reborn") else value.grad
    at = value.cut_at or Link(path, line, why)
    return value._replace(grad="cut", before=before, cut_at=at).then(path, line, why)


def reborn(value: Value, path: str, line: int, why: str) -> Value:
    """`value` after it was made a leaf that requires a gradient."""
    if value.grad in ("live", "leaf", "unknown"):
        return value
    if value.grad in ("constant", "data"):
        return value._replace(grad="leaf", before=value.grad)
    return value._replace(grad="reborn", is_bare=True).then(path, line, why)


_LIKE_CUT = ("cut", "reborn", "data", "constant")


def _flow(values: Iterable[Value]) -> dict[str, Any]:
    """Everything but the range of a result computed from all of `values`."""
    known: list[Value] = []
    for value in values:
        if value.grad == "live":
            return {"grad": "live"}
        known.append(value)
    for grad in ("unknown", "leaf", "reborn", "cut", "data"):
        found = [value for value in known if value.grad == grad]
        if found:
            first = next((v for v in found if v.before == "live"), found[0])
            made = "live" if grad == "leaf" else grad
            return {
                "grad": made,
                "chain": first.chain,
                "before": first.before,
                "why": first.why,
                "cut_at": first.cut_at,
            }
    return {"grad": "constant"}


def joined(values: Iterable[Value], range: str = "other") -> Value:
    """What an operation on all of `values` gives."""
    return Value(range, **_flow(values))


def agreed(values: Iterable[Value]) -> Value:
    """Alternatives as one: a facet on which they differ is unknown, except that cut-like ones stay
    cut-like.
    """
    known = list(dict.fromkeys(values))
    if len(known) == 1:
        return known[0]
    if not known:
        return unknown("defined only by itself")
    ranges, grads = {value.range for value in known}, {value.grad for value in known}
    range = ranges.pop() if len(ranges) == 1 else "unknown"
    if len(grads) == 1 or grads <= set(_LIKE_CUT):
        return Value(range, **_flow(known))
    why = next((value.why for value in known if value.why), "it differs from way to way")
    return Value(range, "unknown", known[0].chain if range != "unknown" else (), "", why)
