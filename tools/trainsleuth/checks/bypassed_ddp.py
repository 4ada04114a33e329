"""The forward pass goes around DistributedDataParallel.

DDP averages gradients over ranks for passes that go through its own forward. Called as ddp.module(x), or
through the model as it was before it was wrapped, each rank trains on its own gradients: the copies drift
apart, and the one that is saved has seen a fraction of the data.

Fix: call the wrapped model; keep .module for saving and for attributes.

Cannot see: wrappers of frameworks, calls that are chosen by a flag at run time.

Bad:
    import torch
    from torch.nn.parallel import DistributedDataParallel as DDP

    def train(net, loader):
        model = DDP(net)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x in loader:
            optimizer.zero_grad()
            loss = model.module(x).mean()
            loss.backward()
            optimizer.step()

Bad (the model from before is called):
    import torch
    import torch.nn as nn

    class Trainer:
        def __init__(self, model, rank):
            self.model = model.to(rank)
            self.ddp_model = nn.parallel.DistributedDataParallel(self.model, device_ids=[rank])
            self.optimizer = torch.optim.SGD(self.ddp_model.parameters(), lr=0.1)

        def step(self, x, y):
            loss = nn.functional.mse_loss(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

Good:
    import torch
    from torch.nn.parallel import DistributedDataParallel as DDP

    def train(net, loader, val_loader):
        model = DDP(net)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x in loader:
            optimizer.zero_grad()
            loss = model(x).mean()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            return [model.module(x).mean() for x in val_loader]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainsleuth.facts import (
    Event,
    Expr,
    External,
    Function,
    Index,
    Site,
    Spot,
    bound_names,
    derived,
    is_test,
    mentions,
    written,
)
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "bypassed-ddp",
    "distributed",
    "error",
    "ranks_agree",
    suspects=("ranks-disagree",),
    claims=("bypass-ddp-wrapper",),
)


class _Wrapping(NamedTuple):
    """`name = DDP(inner)`: dotted paths as written; `inner` is "" when it is the same name."""

    name: str
    inner: str
    event: Event
    function: Function


def check(index: Index) -> Iterator[Finding]:
    for site in index.calls("DistributedDataParallel", "DDP"):
        symbol = index.resolve(site.function, site.call.callee) if site.call.callee else None
        is_torch = isinstance(symbol, External) and symbol.name.startswith("torch.nn.parallel")
        if is_torch and not is_test(site.function.path):
            wrapping = _wrapping(site)
            if wrapping is not None:
                yield _examined(index, site, wrapping)


def _wrapping(site: Site) -> _Wrapping | None:
    event = site.event
    given = site.call.argument(0, "module")
    if event.kind != "assign" or event.value is not site.call or not event.targets or given is None:
        return None
    target = event.targets[0]
    inner = given.receiver if given.kind == "call" and given.last in ("to", "cuda") else given
    if target.kind != "path" or inner is None:
        return None
    name = inner.text if inner.kind == "path" and inner.text != target.text else ""
    return _Wrapping(target.text, name, event, site.function)


def _examined(index: Index, site: Site, wrapping: _Wrapping) -> Finding:
    path, line = site.function.path, site.call.line
    for function in _scope(index, wrapping):
        start = site.position + 1 if function is site.function else 0
        passes = list(_forwards(index, function, wrapping, start))
        if any(is_wrapped for is_wrapped, _, _ in passes):
            return SAY.passed(path, line, f"{wrapping.name} itself is called in {function.name}")
        for _, position, call in passes:
            if (backward := _reaches_backward(index, function, position)) is not None:
                return _failure(site, wrapping, function, call, backward)
    return SAY.passed(path, line, f"no pass around {wrapping.name} leads to a backward()")


def _scope(index: Index, wrapping: _Wrapping) -> Iterator[Function]:
    """Functions in which the names mean the same: the function itself, or for self the methods of its class."""
    cls = index.class_of(wrapping.function)
    if wrapping.name.startswith("self.") and cls is not None:
        yield from cls.methods.values()
    else:
        yield wrapping.function


def _forwards(index: Index, function: Function, wrapping: _Wrapping, start: int) -> Iterator[tuple[bool, int, Expr]]:
    """Forward passes outside no_grad: through the wrapper, or around it."""
    around = {f"{wrapping.name}.module", f"{wrapping.name}.module.forward"}
    if wrapping.inner and not _is_rebound(function, wrapping, start):
        around |= {wrapping.inner, f"{wrapping.inner}.forward"}
    for position, event in enumerate(function.events):
        if position < start or index.values.is_without_grad(Spot(function, position)):
            continue
        for call in event.calls:
            handed = any(part.kind == "path" and part.text == wrapping.name for part in call.parts[1:])
            if call.callee == wrapping.name or (handed and call.last not in ("DataParallel", "print")):
                yield True, position, call
            elif call.callee in around:
                yield False, position, call


def _is_rebound(function: Function, wrapping: _Wrapping, start: int) -> bool:
    """The inner name is given something else later on, such as the wrapper itself."""
    return any(wrapping.inner in bound_names(event) for event in function.events[start:])


def _reaches_backward(index: Index, function: Function, position: int) -> Expr | None:
    """The backward() whose loss is computed from what the event gives."""
    event = function.events[position]
    names = derived(function, bound_names(event), position)
    for effect in index.effects.of(function):
        if effect.kind == "backward" and effect.position >= position:
            value = function.events[effect.position].value
            if effect.position == position or mentions(value, names):
                return effect.expr
    return None


def _failure(site: Site, wrapping: _Wrapping, function: Function, call: Expr, backward: Expr) -> Finding:
    at = site.function.path
    chain = (
        Link(at, site.call.line, f"{wrapping.name} averages gradients over the ranks"),
        Link(function.path, call.line, f"{written(call)} goes around it"),
        Link(function.path, backward.line, f"{written(backward)} starts from it"),
    )
    message = (
        f"{written(call)} at {function.path}:{call.line} goes around {wrapping.name}, the DistributedDataParallel made at "
        f"{at}:{site.call.line}, so gradients are not averaged over ranks: expected {wrapping.name}(...)."
    )
    return SAY.fail(function.path, call.line, message, chain)
