"""Several values that are used as one tensor: a loss of all that a model gives back ends in an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..reading.scopes import bindings
from ..records import Expr
from ..tracing.callers import Target
from ..tracing.making import called
from ..tracing.things import Spot
from .fitting import lengths_given_back

if TYPE_CHECKING:
    from ..index import Index

MAX_HOPS = 2  # from a parameter to that of the caller
_OF_TUPLES = ("count", "index")
_LOSSES = ("torch.nn.", "torch.nn.functional.", "torch.nn.modules.loss.")


def misused_tuple(index: Index, spot: Spot, expr: Expr) -> str:
    """Why a path, or the call of a loss, surely fails at `spot`; "" when it may well not."""
    if expr.kind == "path" and "." in expr.text:
        name, attribute = expr.text.split(".")[:2]
        is_lacking = attribute not in _OF_TUPLES and not attribute.startswith("__")
        count = _values(index, name, spot) if is_lacking else 0
        return f"{name} is a tuple of {count}, which has no {attribute}" if count else ""
    if expr.kind == "call" and _is_loss(called(index, expr, spot)):
        for name in (one.text for one in expr.arguments[:2] if one.kind == "path"):
            if count := _values(index, name, spot):
                return f"{name} is a tuple of {count}, and {expr.last}() takes a tensor"
    return ""


def _is_loss(name: str) -> bool:
    head, _, last = name.rpartition(".")
    return f"{head}." in _LOSSES and last.endswith(("Loss", "_loss", "cross_entropy"))


def _values(index: Index, name: str, spot: Spot, hops: int = MAX_HOPS) -> int:
    """How many values a local name, or a parameter in all calls, holds as a tuple that its makers write out; 0 if it may be none."""
    found = bindings(spot.function).get(name, ()) if "." not in name else ()
    if not found and hops and spot.function.parameter(name) is not None:
        callers = index.callers(spot.function)
        given = [(index.flow.given(spot.function, one.call, name, one.owner is not None), one.spot) for one in callers]
        counts = [
            _values(index, one.text, at, hops - 1) if one is not None and one.kind == "path" else 0 for one, at in given
        ]
        return counts[0] if counts and all(counts) else 0
    if len(found) != 1 or found[0].kind != "assign" or found[0].items or found[0].position >= spot.position:
        return 0
    call = spot.function.events[found[0].position].value
    if call is None or call.kind != "call" or not index.may_run(call, spot.function):
        return 0
    targets = list(index.calling.targets(call, Spot(spot.function, found[0].position)))
    lengths = [lengths_given_back(index, one) if isinstance(one, Target) else () for one in targets]
    return lengths[0][0] if lengths and all(lengths) else 0
