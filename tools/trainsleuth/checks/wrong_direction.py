"""A score that is to rise is watched as if it were to fall, or the reverse.

What waits for a value to get better has to be told which way is better. ReduceLROnPlateau, and the checkpoints and early
stops of Lightning since 1.2, take the smaller value unless they are told mode="max"; the Trainer of transformers takes the greater one,
but for a loss. Given an accuracy, the first lowers the rate as often as the model gets better, a checkpoint keeps the worst
model, an early stop ends the run while it improves. Nothing says so.

Fix: mode="max" (greater_is_better=True) for what is to rise, "min" for what is to fall; in one's own comparison the other sign.

One's own comparison asks: a name may be older than what it holds.

Cannot see: scores whose name does not tell (score, metric, the_metric), directions that a setting gives.

Bad:
    import torch

    def fit(model, train, accuracy, loader, epochs):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.1, patience=3)
        for epoch in range(epochs):
            train(model, optimizer, loader)
            val_acc = accuracy(model, loader)
            scheduler.step(val_acc)

Bad (the checkpoint that is kept is the worst):
    from lightning.pytorch import Trainer
    from lightning.pytorch.callbacks import ModelCheckpoint

    def main(model, data):
        trainer = Trainer(callbacks=[ModelCheckpoint(monitor="val_auroc", save_top_k=1)])
        trainer.fit(model, data)

Bad (by hand):
    import torch

    def fit(model, train, validate, epochs):
        best_loss = float("inf")
        for epoch in range(epochs):
            train(model)
            val_loss = validate(model)
            if val_loss > best_loss or epoch == 0:
                best_loss = val_loss
                torch.save(model.state_dict(), "best.pt")

Good:
    import torch

    def fit(model, train, accuracy, loader, epochs):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max", factor=0.1, patience=3)
        for epoch in range(epochs):
            train(model, optimizer, loader)
            val_acc = accuracy(model, loader)
            scheduler.step(val_acc)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Expr, Index, Site, Spot, called, constant, is_test, written
from trainsleuth.facts.training.best import Choice, choices
from trainsleuth.facts.training.directions import is_to_rise, rises
from trainsleuth.finding import Finding, Link

from ._schedules import PLATEAU, Schedule, made_by, plateaus
from ._verdicts import Verdicts
from ._versions import names_lightning

SAY = Verdicts(
    "wrong-direction",
    "training-procedure",
    "warning",
    "",
    suspects=("another-loop-fault", "learning-rate-zero-or-tiny"),
    claims=("plateau-mode-min",),
    look="print what is watched beside the rate, or beside each save, for some epochs: which way does it move when they change?",
    forms={
        "schedule": "ReduceLROnPlateau, by what its step() is given",
        "library": "a checkpoint, an early stop or a schedule of Lightning, or the best model of transformers",
    },
)
_CALLBACKS = ("ModelCheckpoint", "EarlyStopping")
_ARGUMENTS = ("TrainingArguments", "Seq2SeqTrainingArguments")
_WAYS = re.compile(r"mode(?!l)|direction|greater|higher|lower|maxim|minim", re.I)
_WAY = {True: "rise", False: "fall"}


def check(index: Index) -> Iterator[Finding]:
    for site in index.calls("step"):
        if not is_test(site.function.path) and (score := site.call.argument(0, "metrics")) is not None:
            for made in plateaus(index, site)[:1]:
                yield _stepped(index, site, score, made)
    for site in index.calls(*_CALLBACKS, PLATEAU):
        if not is_test(site.function.path) and (found := _monitoring(index, site)) is not None:
            yield found
    for site in index.calls(*_ARGUMENTS):
        if not is_test(site.function.path) and called(index, site.call, _spot(site)).startswith("transformers."):
            yield _best_model(index, site)
    for choice in choices(index, wide=True):
        if not is_test(choice.spot.function.path):
            yield _compared(index, choice)


def _stepped(index: Index, site: Site, score: Expr, made: Schedule) -> Finding:
    path, line, to_rise = site.function.path, site.call.line, is_to_rise(index, score, _spot(site))
    waits = _mode(index, made.call, made.spot, 1)
    if to_rise is None or waits is None:
        return SAY.open(path, line, f"which way {written(score)} is to move, or is waited for, is not known")
    if waits is to_rise:
        return SAY.passed(path, line, f"{written(score)} is to {_WAY[waits]}, as is waited for")
    at = Link(made.spot.function.path, made.call.line, f"{PLATEAU} waits for what it is given to {_WAY[waits]}")
    message = (
        f"{written(site.call)} at {path}:{line} gives {written(score)}, which is to {_WAY[to_rise]}, to a schedule that waits for it to "
        f"{_WAY[waits]} ({at.path}:{at.line}): the rate is lowered while the model gets better; expected {_expected(to_rise)}."
    )
    chain = (at, Link(path, line, f"it is given {written(score)}"))
    return SAY.fail(path, line, message, chain, "medium", form="schedule")


def _monitoring(index: Index, site: Site) -> Finding | None:
    """What a callback of Lightning watches, and a schedule that Lightning steps."""
    path, line = site.function.path, site.call.line
    if site.call.last == PLATEAU:
        if site.function.name != "configure_optimizers" or not made_by(index, site.call, _spot(site)):
            return None
        place, given = 1, _beside(site)
    else:
        if "lightning" not in called(index, site.call, _spot(site)):
            return None
        place, given = 99, site.call.keyword("monitor")
        if given is None and site.call.last == "EarlyStopping":
            given = site.call.argument(0)
    if given is None:
        return None
    name, waits = _text(index, given, _spot(site)), _mode(index, site.call, _spot(site), place)
    to_rise = rises(name) if name is not None else None
    if to_rise is None or waits is None:
        return SAY.open(path, line, f"which way {written(given)} is to move, or is waited for, is not known")
    if waits is to_rise:
        return SAY.passed(path, line, f"{name} is to {_WAY[waits]}, as is waited for")
    if site.call.last in _CALLBACKS and site.call.keyword("mode") is None and (old := _chose_itself(index, site)):
        return SAY.open(path, line, f"{old}: before 1.2 the callback went by the name")
    if (kept := site.call.keyword("save_top_k")) is not None and written(kept) in ("-1", "0"):
        return SAY.passed(path, line, f"no checkpoint is chosen by {name}")
    message = (
        f"{site.call.last} at {path}:{line} watches {name}, which is to {_WAY[to_rise]}, and waits for it to {_WAY[waits]}: "
        f"{_EFFECT[site.call.last]}; expected {_expected(to_rise)}."
    )
    return SAY.fail(path, line, message, (Link(path, line, f"it watches {name}"),), "medium", form="library")


def _chose_itself(index: Index, site: Site) -> str:
    """What says that this was written for a Lightning before 1.2, whose mode was "auto": max where acc stands in the name."""
    gone = next((name for name in ("filepath", "prefix", "period") if site.call.keyword(name) is not None), "")
    return f"{gone}= is gone since" if gone else names_lightning(index, site.function.path, "0|1.[01]") or ""


_EFFECT = {
    "ModelCheckpoint": "the model that is kept as the best is the worst",
    "EarlyStopping": "the run ends while the model gets better",
    PLATEAU: "the rate is lowered while the model gets better",
}


def _beside(site: Site) -> Expr | None:
    """{"scheduler": ..., "monitor": "val_acc"}: the one that the function names."""
    pairs = (part for event in site.function.events if event.value is not None for part in event.value.walk())
    named = [one.parts[1] for one in pairs if one.kind == "pair" and one.parts[0].text == "monitor"]
    return named[0] if len(named) == 1 else None


def _best_model(index: Index, site: Site) -> Finding:
    path, line, call = site.function.path, site.call.line, site.call
    given, better = call.keyword("metric_for_best_model"), call.keyword("greater_is_better")
    name = _text(index, given, _spot(site))
    to_rise = rises(name) if name is not None else None
    if given is None or _text(index, call.keyword("load_best_model_at_end"), _spot(site)) != "True":
        return SAY.passed(path, line, "no score that it names decides which model is loaded at the end")
    told = _text(index, better, _spot(site)) if better is not None else str(not (name or "").endswith("loss"))
    if to_rise is None or told not in ("True", "False"):
        return SAY.open(
            path, line, f"which way {written(given)} is to move, or which is taken for better, is not known"
        )
    if to_rise is (told == "True"):
        return SAY.passed(path, line, f"{name} is to {_WAY[to_rise]}, as is said")
    message = (
        f"{call.last} at {path}:{line} loads the best model at the end by {name}, which is to {_WAY[to_rise]}, and takes the "
        f"{'greater' if told == 'True' else 'smaller'} value for the better one{'' if better is not None else ', as it does by itself'}: "
        f"what is loaded is the worst; expected greater_is_better={to_rise}."
    )
    return SAY.fail(
        path, line, message, (Link(path, line, f"the model is chosen by {name}"),), "medium", form="library"
    )


def _compared(index: Index, choice: Choice) -> Finding:
    path, line, score = choice.spot.function.path, choice.score.line, choice.score
    to_rise, best = is_to_rise(index, score, choice.spot), rises(choice.best.last)
    wants = None if _is_told_the_way(choice) else choice.wants_more
    if to_rise is None or wants is None or best is (not to_rise):
        return SAY.open(path, line, f"which way {written(score)} is to move is not known")
    if wants is to_rise:
        return SAY.passed(path, line, f"{written(score)} is to {_WAY[wants]}, and so it is compared")
    message = (
        f"{written(score)} at {path}:{line}, which is to {_WAY[to_rise]}, is saved where it is {'greater' if wants else 'less'} than "
        f"{written(choice.best)}: what is kept as the best is the worst; is it named for what it is? Expected the comparison the other way round."
    )
    chain = (
        Link(path, line, f"{written(score)} is compared with {written(choice.best)}"),
        Link(path, choice.saving.line, f"{written(choice.saving)} saves where it is {'greater' if wants else 'less'}"),
    )
    return SAY.fail(path, line, message, chain, "medium", "note")


def _is_told_the_way(choice: Choice) -> bool:
    """mode == "max" and acc > best or mode == "min" and acc < best"""
    test = choice.spot.function.events[choice.spot.position].value
    parts = list(test.walk()) if test is not None else []
    return any(one.text in ("min", "max") or _WAYS.search(one.last) for one in parts)


def _spot(site: Site) -> Spot:
    return Spot(site.function, site.position)


def _mode(index: Index, call: Expr, spot: Spot, place: int) -> bool | None:
    """Whether it waits for a rise: mode="max", the first value of which is "min"."""
    given = call.argument(place, "mode")
    if given is None:
        return None if any(part.kind in ("star", "doublestar") for part in call.parts[1:]) else False
    text = _text(index, given, spot)
    return text == "max" if text in ("min", "max") else None


def _text(index: Index, expr: Expr | None, spot: Spot) -> str | None:
    found = constant(index, expr, spot)
    return found.text if found is not None else None


def _expected(to_rise: bool) -> str:
    return 'mode="max"' if to_rise else 'mode="min"'
