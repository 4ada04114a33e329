"""What training minimises: the expressions that gradients start from."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..naming.sites import Site, is_test
from ..records import Expr, Function
from ..tracing.things import Spot

if TYPE_CHECKING:
    from ..index import Index

_TRAINING = ("step", "parameters", "zero_grad", "Linear", "Sequential", "Conv2d", "Embedding", "Parameter")
_HOOKS = ("training_step", "compute_loss")  # what Lightning and the Hugging Face Trainer send backward


class Minimised(NamedTuple):
    """`loss` is sent backward by `site.call`."""

    site: Site
    loss: Expr

    @property
    def spot(self) -> Spot:
        return Spot(self.site.function, self.site.position)


def minimised(index: Index) -> Iterator[Minimised]:
    """Every backward() outside tests and autograd functions, with the expression that it starts from."""
    for site in index.calls("backward", "manual_backward"):
        loss = _loss(site.call)
        if loss is None or is_test(site.function.path) or not _may_train(index, site):
            continue
        if not _is_inside_autograd(index, site):
            yield Minimised(site, loss)


def trained_losses(index: Index) -> Iterator[tuple[Expr, Spot]]:
    """Every expression that is minimised, at its place: what backward() starts from, or what a framework's
    hook returns.
    """
    for found in minimised(index):
        yield found.loss, found.spot
    for function in index.functions():
        if function.name in _HOOKS and function.owner and not is_test(function.path):
            for position, event in enumerate(function.events):
                if event.kind == "return" and event.value is not None:
                    yield _returned(event.value), Spot(function, position)


def losses_from(index: Index, functions: Collection[Function]) -> Iterator[tuple[Expr, Spot]]:
    """Those of `trained_losses` that something written in `functions` may go into; they may become fewer meanwhile."""
    if not functions:
        return
    leading = {function: _leading(index, function) for function in functions}
    for loss, start in trained_losses(index):
        near = {start.function}
        if start.function.parameter(loss.text) is not None:
            near |= {caller.spot.function for caller in index.callers(start.function)}
        if any(not near.isdisjoint(leading[function]) for function in functions):
            yield loss, start


def _leading(index: Index, function: Function) -> set[Function]:
    """The function and those that surely call it, at any distance: a loss is only followed into such calls."""
    found, waiting = {function}, [function]
    while waiting:
        callers = {caller.spot.function for caller in index.callers(waiting.pop())}
        waiting += callers - found
        found |= callers
    return found


def _may_train(index: Index, site: Site) -> bool:
    """There is a layer, a parameter or a step near: without any, backward() only shows how autograd works."""
    part = index.part(site.function.path)
    return any(index.sites.calls_in(name, part) for name in _TRAINING) or bool(site.function.parameters)


def _returned(value: Expr) -> Expr:
    """The loss of `return {"loss": loss, ...}`; the whole value otherwise."""
    for pair in value.parts if value.kind == "dict" else ():
        if pair.kind == "pair" and pair.parts[0].text == "loss":
            return pair.parts[1]
    return value


def _loss(call: Expr) -> Expr | None:
    """What backward() starts from: its receiver, or the argument of accelerator.backward(loss)."""
    receiver = call.receiver
    if receiver is None or receiver.text == "super":
        return None
    handed = call.argument(0, "loss", "tensors")
    if handed is not None and len(call.arguments) > 1 and "dist" in receiver.text:
        handed = call.arguments[1]  # torch.distributed.autograd: the context comes first
    if handed is not None and _takes_loss(receiver, call):
        return handed.parts[0] if handed.kind in ("list", "tuple") and handed.parts else handed
    if receiver.kind == "call" and receiver.last in ("scale", "scale_loss") and receiver.arguments:
        return receiver.arguments[0]
    return receiver


def _takes_loss(receiver: Expr, call: Expr) -> bool:
    named = receiver.last.lower()
    return call.last == "manual_backward" or any(
        word in named for word in ("accelerator", "fabric", "engine", "autograd", "optim", "scaler", "balancer")
    )


def _is_inside_autograd(index: Index, site: Site) -> bool:
    """The backward of a torch.autograd.Function is about gradients, not about a loss."""
    cls = index.class_of(site.function)
    return cls is not None and index.hierarchy.is_a(cls, "Function") and site.function.name in ("forward", "backward")
