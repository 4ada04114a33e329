"""Where a tensor comes from, by its name or by what was called: labels, or a model."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Class, Expr, External, Index, Instance, Spot, Target, is_module, is_module_class

_LABEL = re.compile(r"(^|_)(gt|targets?|labels?|truth)(_|$)", re.IGNORECASE)


def is_of_labels(index: Index, given: Expr, spot: Spot) -> bool:
    """By their names no gradient is asked of what it is computed from."""
    names = set(_tensors(index, given, spot))
    return bool(names) and all(map(_LABEL.search, names))


def _tensors(index: Index, expr: Expr, spot: Spot) -> Iterator[str]:
    """Names of the tensors that an expression computes with: not of indices, options or modules."""
    if expr.kind == "path":
        if not isinstance(index.resolve(spot.function, expr.text), External):
            yield expr.last
        return
    receiver = (expr.receiver,) if expr.kind == "call" and expr.receiver is not None else ()
    inner = (*receiver, *expr.arguments) if expr.kind == "call" else expr.parts[: 1 if expr.kind == "index" else None]
    for part in inner:
        yield from _tensors(index, part, spot)


def is_learned(index: Index, above: Expr, spot: Spot) -> bool:
    """What a model of the project gives: a whole row of it is not zero but where the model makes it so."""
    origins = list(index.flow.origins(above.text, spot)) if above.kind == "path" else []
    calls = [one.expr for one in origins if one.expr is not None and one.expr.kind == "call"]
    return bool(calls) and len(calls) == len(origins) and all(_runs_model(index, call, spot) for call in calls)


def _runs_model(index: Index, call: Expr, spot: Spot) -> bool:
    found = list(index.calling.targets(call, spot))
    return bool(found) and all(
        one.owner is not None and isinstance(one.owner.kind, Class) and is_module_class(index, one.owner.kind)
        if isinstance(one, Target)
        else isinstance(one, Instance) and is_module(index, one)
        for one in found
    )
