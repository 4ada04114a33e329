"""Gradient scalers: which backward() works on a scaled loss, and by which scaler."""

from __future__ import annotations

from collections.abc import Iterable

from trainsleuth.facts import (
    Effect,
    Event,
    Expr,
    Index,
    Instance,
    Literal,
    Spot,
    Surrounding,
    makers,
    reaching,
    written,
)

_WRITING = ("div_", "mul_", "copy_", "true_divide_", "zero_", "add_")


def scaler_of(backward: Effect) -> Expr | None:
    """The scaler expression of scaler.scale(loss).backward(), or of a name that was given it."""
    call = _scale_call(backward)
    return call.receiver if call is not None else None


def _scale_call(backward: Effect) -> Expr | None:
    receiver = backward.expr.receiver
    if receiver is not None and receiver.kind == "path":
        found, certain = reaching(backward.spot.function, receiver.text, backward.spot.position)
        receiver = found[0].value if len(found) == 1 and certain else None
    if receiver is not None and receiver.kind == "call" and receiver.last == "scale" and receiver.arguments:
        return receiver
    return None


def is_scaled(index: Index, backward: Effect) -> bool:
    """It starts from a loss scaled by a torch GradScaler that is not switched off in writing."""
    scaler = scaler_of(backward)
    if scaler is None:
        return False
    if made := scalers(index, backward):
        return all(one.name.rpartition(".")[2] == "GradScaler" and not _is_off(index, one) for one in made)
    return scaler.last.lower().endswith("scaler")


def scalers(index: Index, backward: Effect) -> list[Instance]:
    """The objects that may scale the loss, as far as known."""
    scaler = scaler_of(backward)
    things = index.objects.of(scaler, backward.spot) if scaler is not None else ()
    return [thing for thing in things if isinstance(thing, Instance)]


def first_scales(index: Index, backward: Effect) -> set[str]:
    """The factors that the scalers begin with, as written: "1" of GradScaler(1); "" where none is given."""
    made = [one.call for one in scalers(index, backward)]
    first = [call.argument(0, "init_scale") if call is not None else None for call in made]
    return {written(one) if one is not None else "" for one in first}


def knows_scale(index: Index, call: Expr, spot: Spot) -> bool:
    """The limit of clipping follows the factor, or is infinite: the norm is only looked at."""
    limit = call.argument(1, "max_norm", "clip_value")
    made = (one for one, _ in makers(index, limit, spot)) if limit is not None else ()
    parts = [part for root in ((limit, *made) if limit is not None else ()) for part in root.walk()]
    return any("scale" in part.last or "inf" in (part.last, part.text.lower()) for part in parts)


def divides_by_hand(index: Index, around: Surrounding, start: int, end: int) -> bool:
    """Gradients are written between two events of the function, or in a function that is called there by its name:
    p.grad.div_(scaler.get_scale()).
    """
    between = around.function.events[start + 1 : end]
    called = (one for event in between for call in event.calls for one in index.functions_named(call.last))
    return writes_gradients(between) or any(writes_gradients(one.events) for one in called)


def writes_gradients(events: Iterable[Event]) -> bool:
    """p.grad = ..., p.grad.copy_(...), torch._foreach_mul_(grads, ...)."""
    for event in events:
        if any(call.last.startswith("_foreach_") and "grad" in written(call).lower() for call in event.calls):
            return True
        roots = [call.receiver for call in event.calls if call.last in _WRITING]
        roots += event.targets if event.kind in ("assign", "augment") else ()
        if any("grad" in root.text.split(".") or root.last == "grad" for root in roots if root is not None):
            return True
    return False


def _is_off(index: Index, scaler: Instance) -> bool:
    enabled = scaler.call.keyword("enabled") if scaler.call is not None else None
    things = index.objects.of(enabled, scaler.spot) if enabled is not None and scaler.spot is not None else ()
    return bool(things) and all(isinstance(thing, Literal) and thing.expr.text == "False" for thing in things)
