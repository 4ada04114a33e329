"""One model is trained through all folds of a cross-validation.

Each fold is to tell how a model does on data that it has not seen. A model, or the optimizer over it, that is made before the loop over the folds goes on with
the weights of the fold before: from the second fold on it was trained on most of what it is evaluated on, and the mean over
the folds is far too good.

Fix: make model and optimizer inside the loop, or load one kept copy of the first weights at the start of each fold.

Cannot see: models that are attributes of an object, folds that are files of a folder, resets by functions whose names do not say so.

Bad:
    import torch
    from sklearn.model_selection import KFold

    def cross_validate(net, x, y, epochs):
        optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
        for fold, (train, val) in enumerate(KFold(n_splits=5).split(x)):
            for epoch in range(epochs):
                optimizer.zero_grad()
                torch.nn.functional.mse_loss(net(x[train]), y[train]).backward()
                optimizer.step()
            print(fold, torch.nn.functional.mse_loss(net(x[val]), y[val]).item())

Bad (the optimizer is new, the weights are not):
    import torch
    from sklearn.model_selection import StratifiedKFold

    def fit(net, x, y):
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()

    def main(x, y):
        net = torch.nn.Linear(8, 3)
        folds = StratifiedKFold(n_splits=10, shuffle=True)
        for train, val in folds.split(x, y):
            fit(net, x[train], y[train])
            print((net(x[val]).argmax(1) == y[val]).float().mean())

Good:
    import torch
    from sklearn.model_selection import KFold

    def cross_validate(make, x, y, epochs):
        for fold, (train, val) in enumerate(KFold(n_splits=5).split(x)):
            net = make()
            optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
            for epoch in range(epochs):
                optimizer.zero_grad()
                torch.nn.functional.mse_loss(net(x[train]), y[train]).backward()
                optimizer.step()
            print(fold, torch.nn.functional.mse_loss(net(x[val]), y[val]).item())

Good (the first weights come back):
    import copy
    import torch
    from sklearn.model_selection import KFold

    def cross_validate(net, x, y):
        first = copy.deepcopy(net.state_dict())
        for train, val in KFold(n_splits=5).split(x):
            net.load_state_dict(first)
            optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(net(x[train]), y[train]).backward()
            optimizer.step()
            print(torch.nn.functional.mse_loss(net(x[val]), y[val]).item())
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import (
    Effect,
    Event,
    Expr,
    Function,
    Index,
    Instance,
    Loop,
    Spot,
    bindings,
    bound_names,
    is_module,
    is_test,
    makers,
    mentions,
    written,
)
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "model-kept-across-folds",
    "eval",
    "error",
    "",
    suspects=("split-leak",),
    claims=("leakage-is-widespread",),
    look="evaluate each fold before its training: from the second on the score must be that of chance",
)
_FOLDS = re.compile(rb"Fold\(|ShuffleSplit\(|LeaveOne\w*\(")
_IS_FOLDS = re.compile(r"(?:^|\.)(?:\w*KFold|\w*ShuffleSplit|LeaveOne\w*)$")
_ANEW = re.compile(r"load|reset|init|copy|apply|clone|fresh|restart|restore|build|make|create|recurs", re.IGNORECASE)
_PARAMETERS = ("parameters", "named_parameters")


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_FOLDS):
        for loop in function.loops if not is_test(function.path) else ():
            if loop.kind == "for" and loop.source is not None and _goes_over_folds(index, function, loop):
                yield from _examined(index, function, loop)


def _goes_over_folds(index: Index, function: Function, loop: Loop) -> bool:
    assert loop.source is not None
    start = next((place for place, one in enumerate(function.events) if one.line >= loop.line), 0)
    spot = Spot(function, start)
    for part in loop.source.walk():
        made = [one for one, _ in makers(index, part, spot)] if part.kind == "path" else [part]
        for call in (inner for one in made for inner in one.walk() if inner.kind == "call" and inner.last == "split"):
            splitters = [one for one, _ in makers(index, call.receiver, spot)] if call.receiver is not None else []
            if any(one.kind == "call" and _IS_FOLDS.search(one.callee) for one in splitters):
                return True
    return False


def _examined(index: Index, function: Function, loop: Loop) -> Iterator[Finding]:
    stepping = [one for one in index.effects.of(function) if one.kind == "step" and loop.id in _loops(function, one)]
    if not stepping:
        return
    events = [event for event in function.events if loop.id in event.block.loops]
    if any(event.kind in ("break", "continue") and event.block.loops[-1:] == (loop.id,) for event in events):
        yield SAY.passed(function.path, loop.line, "not every fold is run")
        return
    rebound = {name for event in events for name in bound_names(event)}
    for effect in stepping:
        for name, made in _kept(index, function, effect, rebound):
            if (anew := _made_anew(events, name)) is None:
                yield _failure(function, loop, effect, name, made)
                return
            yield SAY.passed(function.path, loop.line, f"{written(anew, 40)} may bring other weights")
            return
    yield SAY.passed(function.path, loop.line, "what is trained is made inside the loop over the folds")


def _loops(function: Function, effect: Effect) -> tuple[int, ...]:
    return function.events[effect.position].block.loops


def _made_anew(inside: list[Event], model: str) -> Expr | None:
    """A call by whose name the model may get other weights in the loop; the best of the same fold are none."""
    calls = (
        call for event in inside for call in event.calls if _ANEW.search(call.last) and "best" not in written(call)
    )
    return next((call for call in calls if mentions(call, [model])), None)


def _kept(index: Index, function: Function, effect: Effect, rebound: set[str]) -> Iterator[tuple[str, int]]:
    """(a model that is trained and not made anew, where it is made)"""
    spot = Spot(function, effect.position)
    if effect.receiver:
        made = [one for one, _ in makers(index, Expr("path", effect.receiver, (), effect.line), spot)]
        owners = (
            part.receiver for one in made for part in one.walk() if part.kind == "call" and part.last in _PARAMETERS
        )
        names = [one.text for one in owners if one is not None and one.kind == "path"]
    else:
        given = (one for call in function.events[effect.position].calls for one in call.arguments if one.kind == "path")
        names = [one.text for one in given if _is_model(index, one, spot)]
    for name in names if rebound.isdisjoint(names) else ():
        if (line := _made_before(function, name)) is not None:
            yield name, line


def _is_model(index: Index, expr: Expr, spot: Spot) -> bool:
    things = index.objects.of(expr, spot)
    return bool(things) and all(isinstance(one, Instance) and is_module(index, one) for one in things)


def _made_before(function: Function, name: str) -> int | None:
    """The line at which a name of this function got its last value."""
    found = bindings(function).get(name, ())
    if found:
        return function.events[found[-1].position].line if all(one.kind == "assign" for one in found) else None
    return function.line if function.parameter(name) is not None else None


def _failure(function: Function, loop: Loop, effect: Effect, name: str, made: int) -> Finding:
    path = function.path
    chain = (
        Link(path, made, f"{name} is made, once"),
        Link(path, loop.line, "each round is a fold of its own"),
        Link(effect.spot.function.path, effect.line, "it is trained there, in each of them"),
    )
    message = (
        f"{name}, made at {path}:{made}, is trained in all folds of the loop at {path}:{loop.line} and never made anew: "
        "from the second fold on it has been trained on what it is evaluated on; expected model and optimizer to be made inside the loop."
    )
    return SAY.fail(path, loop.line, message, chain)
