"""A learning rate is written on the optimizer, where no optimizer of torch reads it.

torch takes the rate from the parameter groups: param_group["lr"]. optimizer.lr = lr adds an attribute to the object, which
Python allows, and optimizer.defaults["lr"] is what groups that are added later begin with. The rate stays as it was, and the
decay that was meant never comes. Nothing says so.

Fix: for group in optimizer.param_groups: group["lr"] = lr; or a schedule of torch.optim.lr_scheduler.

Cannot see: optimizers that are not resolved, and rates set by setattr.

Bad:
    import torch

    def train(model, loader, epochs, lr=0.1):
        optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        for epoch in range(epochs):
            if epoch > 10:
                lr /= 10
                optimizer.lr = lr
            for x in loader:
                optimizer.zero_grad()
                model(x).mean().backward()
                optimizer.step()

Good:
    import torch

    def train(model, loader, epochs, lr=0.1):
        optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        for epoch in range(epochs):
            if epoch > 10:
                lr /= 10
                for group in optimizer.param_groups:
                    group["lr"] = lr
            for x in loader:
                optimizer.zero_grad()
                model(x).mean().backward()
                optimizer.step()
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import (
    Class,
    Event,
    Expr,
    External,
    Index,
    Instance,
    Spot,
    is_optimizer,
    is_test,
    makers,
    sounds_like_optimizer,
    written,
)
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "unread-learning-rate",
    "optimizer",
    "error",
    "learning_rate",
    suspects=("learning-rate-too-high",),
    claims=("lr-most-important",),
    sure=("",),
)
_RATES = ("lr", "learning_rate")
_WRITES = re.compile(
    rb"\.(?:lr|learning_rate)[ \t]*[-+*/]?=(?!=)|defaults\[[\"'](?:lr|learning_rate)[\"']\][ \t]*[-+*/]?=(?!=)"
)
_READS = re.compile(rb"\.(?:lr|learning_rate)\b|[\"'](?:lr|learning_rate)[\"']")
_SETTINGS = re.compile(r"(^|\.)(args?|cfg|conf|configs?|hparams?|params|flags|settings)(\.|$)", re.I)
_ADDS_GROUP = re.compile(rb"add_param_group")
_TELLING = ("print", "info", "debug", "warning", "log", "write", "format", "add_scalar", "append", "hasattr")


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_WRITES):
        if not is_test(function.path):
            for position, event in enumerate(function.events):
                for target in event.targets if event.kind in ("assign", "augment") else ():
                    if (optimizer := _written_on(target)) is not None:
                        yield from _examined(index, Spot(function, position), target, optimizer)


def _written_on(target: Expr) -> Expr | None:
    """What stands before .lr, or before .defaults["lr"]."""
    if target.kind == "index" and len(target.parts) == 2:
        owner, key = target.parts
        return owner.receiver if owner.last == "defaults" and key.kind == "string" and key.text in _RATES else None
    return target.receiver if target.last in _RATES else None


def _examined(index: Index, spot: Spot, target: Expr, optimizer: Expr) -> Iterator[Finding]:
    things = index.objects.of(optimizer, spot)
    known = [one for one in things if isinstance(one, Instance) and is_optimizer(index, one)]
    made = [one.call for one in known if one.call is not None] or list(_chosen(index, optimizer, spot))
    if not known and not made:
        return
    path, line, shown = spot.function.path, target.line, written(target)
    if known and len(known) < len(things):
        yield SAY.open(path, line, f"{written(optimizer)} may be something else than an optimizer of torch")
    elif any(_has_own(index, one, target.last) for one in known):
        yield SAY.passed(path, line, f"the class of {written(optimizer)} is the project's own, and has {target.last}")
    elif target.kind == "index" and index.is_held(_ADDS_GROUP):
        yield SAY.open(path, line, "a group that is added later begins with it")
    elif any(_is_of_group(one) for event in spot.function.events for one in event.targets):
        yield SAY.passed(path, line, "its groups are given a rate there too")
    elif (where := _read_at(index, optimizer, target)) is not None:
        yield SAY.open(path, line, f"{where} reads it, and may hand it on")
    elif target.kind != "index" and not _is_assigned(index, target):
        yield SAY.open(path, line, f"{shown} is not there to be changed: it raises")
    else:
        yield _failure(spot.function.events[spot.position], path, target, optimizer)


def _is_of_group(target: Expr) -> bool:
    """group["lr"]"""
    if target.kind != "index" or len(target.parts) != 2:
        return False
    owner, key = target.parts
    return key.kind == "string" and key.text in _RATES and owner.last != "defaults"


def _chosen(index: Index, optimizer: Expr, spot: Spot) -> Iterator[Expr]:
    """getattr(torch.optim, name)(...): whichever it is, it is one of torch."""
    for made, at in makers(index, optimizer, spot):
        chosen = made.parts[0] if made.kind == "call" else made
        family = chosen.arguments[0] if chosen.kind == "call" and chosen.callee == "getattr" else None
        module = index.resolve(at.function, family.text) if family is not None and family.kind == "path" else None
        if not isinstance(module, External) or module.name != "torch.optim":
            return
        yield made


def _has_own(index: Index, thing: Instance, name: str) -> bool:
    """Any class of the project that it may be an object of, or of a subclass, speaks of the attribute."""
    if isinstance(thing.kind, Class):
        kinds = {*index.lineage(thing.kind), *index.subclasses(thing.kind)}
    else:
        bases = (one for one in index.classes() if is_optimizer(index, Instance(one)))
        kinds = set(bases) if thing.call is None else set()
    own = re.compile(rb"self\.%s\b|def %s\b|__setattr__|__getattr" % (name.encode(), name.encode()))
    return any(one.body.source.holds(own) for one in kinds)


def _read_at(index: Index, optimizer: Expr, target: Expr) -> str | None:
    """A place that takes the attribute from what goes by this name, or by that of an optimizer, to more than show it."""
    for function in index.functions_holding(_READS):
        for part in (part for event in function.events for part in _used(event)):
            owner = _written_on(part) if (part.kind == "index") is (target.kind == "index") else None
            is_named = owner is not None and (owner.last == optimizer.last or sounds_like_optimizer(owner))
            if is_named and owner is not None and not _SETTINGS.search(owner.text):
                return f"{function.path}:{part.line}"
            if part.last == "getattr" and any(one.text in _RATES for one in part.parts[2:]):
                return f"{function.path}:{part.line}"
    return None


def _used(event: Event) -> Iterator[Expr]:
    waiting = [event.value] if event.value is not None else []
    while waiting:
        part = waiting.pop()
        if part.kind != "call" or part.last not in _TELLING:
            yield part
            waiting += part.parts


def _is_assigned(index: Index, target: Expr) -> bool:
    """Some line gives the attribute a value; augmenting alone raises."""
    return any(
        event.kind == "assign" and any(one.last == target.last and one.text == target.text for one in event.targets)
        for function in index.functions_holding(_WRITES)
        for event in function.events
    )


def _failure(event: Event, path: str, target: Expr, optimizer: Expr) -> Finding:
    shown, line, name = written(target), target.line, written(optimizer)
    given = f"{shown} gets {written(event.value)}" if event.value is not None else shown
    chain = (Link(path, line, f"{given}; no optimizer of torch has a use for it"),)
    message = (
        f"{shown} at {path}:{line} is read by no optimizer of torch, so the rate stays as it was: expected "
        f'group["lr"] for each group in {name}.param_groups.'
    )
    return SAY.fail(path, line, message, chain)
