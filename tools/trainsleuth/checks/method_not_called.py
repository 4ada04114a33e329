"""A method of the training step is named but not called.

`model.eval` without parentheses is a valid statement that does nothing: the mode stays, gradients are not
cleared, the optimizer does not step. `model.train = False` even replaces the method and leaves the mode. A file
that is saved from `model.state_dict` holds the method, and no state to resume from.

Fix: add the parentheses: `model.eval()`, `optimizer.zero_grad()`, `model.train(False)`.

Cannot see: methods that are handed over and never called by the one who gets them.

Bad:
    import torch

    def evaluate(model, loader):
        model.eval
        with torch.no_grad():
            return [model(x) for x, _ in loader]

Bad (the method is replaced by a flag):
    def evaluate(model, loader):
        model.train = False
        return [model(x) for x, _ in loader]

Bad (the method is saved):
    import torch

    def save(model, optimizer, path):
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict}, path)

Good:
    import torch

    def evaluate(model, loader):
        model.eval()
        with torch.no_grad():
            return [model(x) for x, _ in loader]

Good (handed over, or a setting of that name):
    class Settings:
        def __init__(self, train=True):
            self.train = train

    def run(model, settings, hooks):
        hooks.append(model.eval)
        leave = model.eval
        settings.train = False
        leave()
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import (
    Class,
    Event,
    Expr,
    Index,
    Instance,
    Spot,
    is_module,
    is_optimizer,
    is_test,
    sounds_like_optimizer,
    written,
)
from trainsleuth.finding import Finding, Link
from trainsleuth.repository import is_notebook

from ._modes import modal_layer
from ._verdicts import Verdicts

SAY = Verdicts(
    "method-not-called",
    "training-procedure",
    "error",
    "step_trace",
    suspects=("eval-mode", "step-order", "missing-zero-grad"),
    claims=("train-eval-mode", "zero-grad-forgotten"),
    forms={
        "resolved": "eval of a model that surely has dropout or batch norm, zero_grad or step of an optimizer of torch",
        "saved": "state_dict in what torch.save gets",
        "other": "of what is known by its name, or a method that may change nothing",
    },
    sure=("resolved", "saved"),
)
_STATEMENTS = ("eval", "train", "zero_grad", "backward", "step", "unscale_", "update")
_MODES = ("train", "eval")
_NAMED = re.compile(rb"\.\s*(?:" + "|".join(_STATEMENTS).encode() + rb")\b(?!\s*\()")
_KEPT_AS_STATE = re.compile(rb"\.state_dict\s*=[^=]")  # an attribute that holds one
_STATE = re.compile(rb"\.\s*state_dict\b(?!\s*\()")
_OF_MODULES = ("parameters", "named_parameters", "state_dict", "load_state_dict", "cuda", "zero_grad", "eval", "train")
_MODEL_NAMES = ("model", "net", "network", "generator", "discriminator", "encoder", "decoder", "classifier", "critic")


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_NAMED):
        if is_test(function.path):
            continue
        is_shown = is_notebook(function.path)  # a bare name at the end of a cell
        for position, event in enumerate(function.events):
            spot = Spot(function, position)
            bare = _bare(event) if not is_shown else None
            if bare is not None and _is_of_torch(index, bare, spot) and not _is_property(index, bare):
                form = "resolved" if _is_missed(index, bare, spot) else "other"
                yield _failure(spot, bare, f"{written(bare)} stands without parentheses and does nothing", form)
            elif (flag := _replaced(index, event, spot)) is not None:
                said = f"{written(flag)} is replaced by a value; the mode stays as it was"
                yield _failure(spot, flag, said)
    for function in index.functions_holding(_STATE) if not index.is_held(_KEPT_AS_STATE) else ():
        for position, event in enumerate(function.events if not is_test(function.path) else ()):
            for state in _saved(event):
                said = f"{written(state)} is saved without parentheses: the file holds the method and no state"
                yield _failure(Spot(function, position), state, said, "saved")
    for site in index.calls("eval", "zero_grad"):
        if site.call.receiver is not None and not site.call.arguments and not is_test(site.function.path):
            yield SAY.passed(site.function.path, site.call.line, f"{written(site.call)} is called")


def _bare(event: Event) -> Expr | None:
    value = event.value
    if event.kind != "expression" or value is None or value.kind not in ("path", "attr"):
        return None
    return value if value.receiver is not None and value.last in _STATEMENTS else None


def _saved(event: Event) -> Iterator[Expr]:
    """torch.save(model.state_dict, path), torch.save({"model": model.state_dict}, path)"""
    for call in event.calls:
        given = call.argument(0, "obj") if call.callee == "torch.save" else None
        pairs = (
            [pair.parts[-1] for pair in given.parts if pair.parts]
            if given is not None and given.kind == "dict"
            else [given]
        )
        for one in pairs:
            if (
                one is not None
                and one.kind in ("path", "attr")
                and one.last == "state_dict"
                and one.receiver is not None
            ):
                yield one


def _is_of_torch(index: Index, bare: Expr, spot: Spot) -> bool:
    """The owner is a module, an optimizer or a loss as far as is known: `data.train` may be a part of a data set, and
    in a try the mere name asks whether there is such a method.
    """
    owner = bare.receiver
    if owner is not None and owner.kind == "call" and owner.last == "super":
        return False  # a method that is overridden: what the base would have done may be done here
    events = spot.function.events[spot.position : spot.position + 2]
    own, after = (event.block.branches for event in (events[0], events[-1]))
    if owner is None or (after[:-1] == own and after[-1:] and after[-1].kind == "try"):
        return False
    cls = index.class_of(spot.function) if owner.text == spot.function.self_name else None
    things = (
        [Instance(cls)] if cls is not None else [t for t in index.objects.of(owner, spot) if isinstance(t, Instance)]
    )
    if things:
        return all(_has_method(index, thing, bare.last) for thing in things)
    if bare.last in _MODES:
        return owner.last.lower() in _MODEL_NAMES or _is_used_as_module(spot, owner)
    is_stepped = sounds_like_optimizer(owner) or "sched" in owner.last.lower() or "scaler" in owner.last.lower()
    return bare.last not in ("step", "update") or is_stepped


def _has_method(index: Index, thing: Instance, name: str) -> bool:
    if not isinstance(thing.kind, Class) or is_module(index, thing) or is_optimizer(index, thing):
        return True
    return index.method(thing.kind, name) is not None


def _is_used_as_module(spot: Spot, owner: Expr) -> bool:
    """In this function it is called, or asked for what only modules have."""
    calls = (call for event in spot.function.events for call in event.calls)
    return any(
        call.callee == owner.text
        or (call.last in _OF_MODULES and call.receiver is not None and call.receiver.text == owner.text)
        for call in calls
    )


def _is_property(index: Index, bare: Expr) -> bool:
    return any(mark.last.endswith("property") for one in index.functions_named(bare.last) for mark in one.decorators)


def _replaced(index: Index, event: Event, spot: Spot) -> Expr | None:
    """`model.train = False`: a flag in place of a module's method."""
    value = event.value
    if event.kind != "assign" or value is None or value.text not in ("True", "False"):
        return None
    for target in event.targets:
        owner = target.receiver if target.kind == "path" and target.last in _MODES else None
        if owner is None or owner.text == spot.function.self_name:
            continue
        things = index.objects.of(owner, spot)
        modules = [thing for thing in things if isinstance(thing, Instance)]
        if modules:
            return target if all(is_module(index, thing) for thing in modules) else None
        if owner.last.lower() in _MODEL_NAMES and (target.last == "eval" or _is_used_as_module(spot, owner)):
            return target
    return None


def _is_missed(index: Index, bare: Expr, spot: Spot) -> bool:
    """What it would do is known, and is not nothing."""
    owner = bare.receiver
    things = list(index.objects.of(owner, spot)) if owner is not None else []
    made = [thing for thing in things if isinstance(thing, Instance)]
    if not made or len(made) < len(things):
        return False
    if bare.last == "eval":
        return all(is_module(index, one) and modal_layer(index, one, surely=True) is not None for one in made)
    return bare.last in ("zero_grad", "step") and all(is_optimizer(index, one) for one in made)


def _failure(spot: Spot, what: Expr, said: str, form: str = "other") -> Finding:
    path, line = spot.function.path, spot.line
    message = f"{said}, at {path}:{line}; expected the call {written(what)}()."
    return SAY.fail(path, line, message, (Link(path, line, said),), form=form)
