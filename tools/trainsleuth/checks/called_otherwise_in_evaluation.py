"""A function of the project is called otherwise where the model is evaluated than where it is trained.

error(y, y_pred) in one of them and error(y_pred, y) in the other, c_index(-risk, time) and c_index(risk, time), y[:, -n:] and y[:, :n]:
one of the two is wrong. Either the loss is not that of the paper, or the score by which the best model is chosen runs the other way.

Question to answer: which of the two is meant?

Fix: the same in both.

Cannot see: functions of libraries, calls in other files, arguments that differ in other ways.

Bad:
    import torch
    import pytorch_lightning as pl

    def error_to_signal(y, y_pred):
        return (y - y_pred).pow(2).sum(dim=2) / (y.pow(2).sum(dim=2) + 1e-10)

    class Pedal(pl.LightningModule):
        def training_step(self, batch, batch_idx):
            x, y = batch
            y_pred = self(x)
            return error_to_signal(y_pred, y).mean()

        def validation_step(self, batch, batch_idx):
            x, y = batch
            y_pred = self(x)
            self.log("val_loss", error_to_signal(y, y_pred).mean())

Bad (another sign):
    def c_index(risk, time, event):
        return concordance(time, risk, event)

    def fit(net, optimizer, train_loader, valid_loader, loss_of):
        for x, time, event in train_loader:
            risk = net(x)
            optimizer.zero_grad()
            loss_of(risk, time, event).backward()
            optimizer.step()
            train_c = c_index(-risk, time, event)
        for x, time, event in valid_loader:
            risk = net(x)
            valid_c = c_index(risk, time, event)
        return train_c, valid_c

Good:
    import torch
    import pytorch_lightning as pl

    def error_to_signal(y, y_pred):
        return (y - y_pred).pow(2).sum(dim=2) / (y.pow(2).sum(dim=2) + 1e-10)

    class Pedal(pl.LightningModule):
        def training_step(self, batch, batch_idx):
            x, y = batch
            y_pred = self(x)
            return error_to_signal(y, y_pred).mean()

        def validation_step(self, batch, batch_idx):
            x, y = batch
            y_pred = self(x)
            self.log("val_loss", error_to_signal(y, y_pred).mean())
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Expr, FileFacts, Function, Index, Site, is_test, spelled, written
from trainsleuth.finding import Finding, Link

from ._sides import side
from ._verdicts import Verdicts

SAY = Verdicts(
    "called-otherwise-in-evaluation",
    "eval",
    "warning",
    "",
    suspects=("another-loss-fault",),
    claims=("val-loss-not-comparable",),
    look="read the function, and say what each of its arguments is to be",
    forms={"order": "two arguments exchanged", "sign": "another sign", "part": "another part of the same tensor"},
)
_LEARNS = (re.compile(rb"backward\("), re.compile(rb"def (?:\w+_)?(?:train|fit)"))
_MEASURES = re.compile(r"loss|err|metric|index|score|dist|corr|auc|acc|signal", re.IGNORECASE)


def check(index: Index) -> Iterator[Finding]:
    for file in index.files_holding(*_LEARNS):
        if not is_test(file.path):
            for trained, evaluated, beside in _calls(index, file):
                yield _examined(trained, evaluated, beside)


def _calls(index: Index, file: FileFacts) -> Iterator[tuple[list[Site], Site, list[Site]]]:
    """The calls in training, one in evaluation, and all of these, of the same function of the project."""
    trained: dict[str, list[Site]] = {}
    evaluated: dict[str, list[Site]] = {}
    for function in file.functions.values():
        for position, event in enumerate(function.events):
            for call in event.calls:
                if len(call.arguments) > 1 and call.callee and (sides := side(function, position)) is not None:
                    (trained if sides else evaluated).setdefault(call.callee, []).append(Site(function, position, call))
    for callee in trained.keys() & evaluated.keys():
        first = trained[callee][0]
        if isinstance(index.resolve(first.function, callee), Function):
            for other in evaluated[callee]:
                if alike := [one for one in trained[callee] if _is_comparable(one, other)]:
                    yield alike, other, evaluated[callee]


def _is_comparable(one: Site, other: Site) -> bool:
    mine, its = one.call.arguments, other.call.arguments
    return len(mine) == len(its) and all(part.kind != "star" for part in (*mine, *its))


def _examined(calls: list[Site], evaluated: Site, beside: list[Site]) -> Finding:
    path, line = evaluated.function.path, evaluated.call.line
    found = [_difference(one.call.arguments, evaluated.call.arguments) for one in calls]
    is_called_both_ways = any(_is_alike(one, other) for one in calls for other in beside)
    first = found[0]
    if first is None or any(one != first for one in found) or is_called_both_ways:
        return SAY.passed(path, line, f"{evaluated.call.callee} is called as in training")
    (form, what), trained = first, calls[0]
    if form != "order" and not _MEASURES.search(evaluated.call.last):
        return SAY.passed(path, line, f"{evaluated.call.callee} is no measure, by its name")
    chain = (
        Link(trained.function.path, trained.call.line, f"in training: {written(trained.call)}"),
        Link(path, line, f"in evaluation: {written(evaluated.call)}"),
    )
    message = (
        f"{evaluated.call.callee}() is called as {written(evaluated.call)} at {path}:{line}, and as {written(trained.call)} where "
        f"{trained.function.path}:{trained.call.line} trains: {what}. Which of the two is meant?"
    )
    return SAY.fail(path, line, message, chain, "medium", form=form)


def _is_alike(one: Site, other: Site) -> bool:
    mine, its = one.call.arguments, other.call.arguments
    return list(map(spelled, mine)) == list(map(spelled, its))


def _difference(mine: tuple[Expr, ...], its: tuple[Expr, ...]) -> tuple[str, str] | None:
    names, others = list(map(_base, mine)), list(map(_base, its))
    if "" in names or "" in others:
        return None
    if names != others:
        changed = [place for place, (one, other) in enumerate(zip(names, others, strict=True)) if one != other]
        if len(changed) == 2 and [names[place] for place in changed] == [others[place] for place in reversed(changed)]:
            return "order", f"{names[changed[0]]} and {names[changed[1]]} are exchanged"
        return None
    for one, other, name in zip(mine, its, names, strict=True):
        if _is_negative(one) is not _is_negative(other):
            return "sign", f"{name} has another sign"
    for one, other, name in zip(mine, its, names, strict=True):
        if one.kind == other.kind == "index" and _edges(one) and _edges(other) and _edges(one) != _edges(other):
            return "part", f"another part of {name} is taken"
    return None


def _base(expr: Expr) -> str:
    """The name of y, -y, y[:, 1:], y.detach(); "" of anything that is made of more."""
    while expr.kind in ("unary", "index") or (expr.kind == "call" and not expr.arguments and expr.receiver is not None):
        inner = expr.receiver if expr.kind == "call" else expr.parts[0]
        if inner is None:
            return ""
        expr = inner
    return expr.text if expr.kind in ("path", "number", "string", "constant") else ""


def _is_negative(expr: Expr) -> bool:
    return expr.kind == "unary" and expr.text == "-" and expr.parts[0].kind != "number"


def _edges(expr: Expr) -> tuple[str, ...]:
    """The open ends of its slices: "_:" of y[:, -n:]; nothing where a slice is a whole axis."""
    return tuple(part.text for part in expr.parts[1:] if part.kind == "slice" and len(part.parts) == 1)
