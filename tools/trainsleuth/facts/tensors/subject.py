"""The tensor that a call works on: torch.log(x), th.log(x) and x.log() all have x."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..naming.names import External, Module
from ..records import Expr
from ..tracing.things import Spot

if TYPE_CHECKING:
    from ..index import Index


def is_function_call(index: Index, call: Expr, spot: Spot) -> bool:
    """What is called stands in a module or alone: it is no method of a tensor."""
    receiver = call.receiver
    if receiver is None or receiver.text in ("torch", "F", "nn"):
        return True
    return receiver.kind == "path" and isinstance(index.resolve(spot.function, receiver.text), External | Module)


def subject(index: Index, call: Expr, spot: Spot) -> Expr | None:
    return call.argument(0, "input") if is_function_call(index, call, spot) else call.receiver
