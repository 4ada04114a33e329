"""Losses over tokens: which tensor the targets are, and which call made the logits from what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from trainsleuth.facts import Class, Expr, Index, Instance, Spot

_SAME = [
    "view",
    "reshape",
    "flatten",
    "contiguous",
    "long",
    "to",
    "cuda",
    "clone",
    "squeeze",
    "float",
    "type",
    "detach",
    "transpose",
    "permute",
    "log_softmax",
    "t",
]
_FLATTENING = ("view", "reshape", "flatten", "ravel", "transpose", "permute", "rearrange")
MAX_CLASSES = 12


class Base(NamedTuple):
    """What an expression is at bottom: `expr` at `spot`. `is_cut`: only a part of it is taken on the way.

    `is_flat`: its axes are rearranged on the way, as for a loss over all positions.
    """

    expr: Expr
    spot: Spot
    is_cut: bool = False
    is_flat: bool = False


def base_of(index: Index, expr: Expr, spot: Spot) -> Base | None:
    """Through shapes and names with one meaning; None where a name has several, or is written into."""
    is_cut = is_flat = False
    for _ in range(24):
        if expr.kind == "call" and expr.last in _FLATTENING:
            is_flat = True
        if expr.kind == "call" and expr.last in _SAME and expr.receiver is not None:
            is_function = expr.receiver.text in ("torch", "F", "nn.functional")
            inner = expr.argument(0, "input") if is_function else expr.receiver
            if inner is None:
                return None
            expr = inner
        elif expr.kind == "index":
            is_cut, expr = is_cut or _takes_part(expr), expr.parts[0]
        elif expr.kind == "attr":
            expr = expr.parts[0]
        elif expr.kind == "path":
            step = _name(index, expr, spot)
            if step == "many":
                return None
            if step == "source":
                return Base(expr, spot, is_cut, is_flat)
            expr, spot = step
        else:
            break
    return Base(expr, spot, is_cut, is_flat)


def _takes_part(expr: Expr) -> bool:
    """A slice of positions, not a key of a dict or an element of a tuple."""
    return any(part.kind in ("slice", "tuple") or (part.kind == "path") for part in expr.parts[1:])


def _name(index: Index, expr: Expr, spot: Spot) -> tuple[Expr, Spot] | Literal["source", "many"]:
    """One step back from a name."""
    origins = list(index.flow.origins(expr.text, spot))
    if not origins and expr.text.endswith((".logits", ".T")):
        return Expr("path", expr.text.rpartition(".")[0], (), expr.line), spot
    if len(origins) > 1 or any(origin.kind in ("append", "extend", "augment") for origin in origins):
        return "many"
    origin = origins[0] if origins else None
    if origin is None or origin.expr is None or origin.kind not in ("assign", "argument"):
        return "source"
    if origin.items and (origin.expr.kind != "call" or origin.items[0] != 0):
        return "source"
    return origin.expr, origin.spot


def is_same(one: Base, other: Base) -> bool:
    """The very same tensor, by name and place."""
    return (
        one.expr.kind == other.expr.kind == "path"
        and one.expr.text == other.expr.text
        and one.spot.function is other.spot.function
    )


def calls_within(index: Index, cls: Class) -> Iterator[tuple[Expr, str]]:
    """(call, path) of every call in the methods of a module and of the project modules that it is made of."""
    waiting, seen = [cls], set[Class]()
    while waiting and len(seen) < MAX_CLASSES:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        for method in (method for base in index.lineage(one) for method in base.methods.values()):
            for position, event in enumerate(method.events):
                for call in event.calls:
                    yield call, method.path
                    if call.last[:1].isupper():
                        things = index.objects.of(call, Spot(method, position))
                        waiting += [t.kind for t in things if isinstance(t, Instance) and isinstance(t.kind, Class)]
