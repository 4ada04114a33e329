"""Gradient scalers: which backward() works on a scaled loss, and by which scaler."""

from __future__ import annotations

from trainsleuth.facts import Effect, Expr, Index, Instance, is_every_few  # noqa: F401


def scaler_of(backward: Effect) -> Expr | None:
    """The scaler expression of scaler.scale(loss).backward(), or of a name that was given it."""
    call = _scale_call(backward)
    return call.receiver if call is not None else None


def _scale_call(backward: Effect) -> Expr | None:
    from trainsleuth.facts import reaching

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
    things = index.objects.of(scaler, backward.spot)
    made = [thing for thing in things if isinstance(thing, Instance)]
    if made:
        return all(one.name.rpartition(".")[2] == "GradScaler" and not _is_off(one) for one in made)
    return scaler.last.lower().endswith("scaler")


def _is_off(scaler: Instance) -> bool:
    enabled = scaler.call.keyword("enabled") if scaler.call is not None else None
    return enabled is not None and enabled.text == "False"
