"""The best weights are kept without a copy, so they change with every step that follows.

`best = model.state_dict()` keeps no values: the tensors of a state dict share their memory with the parameters.
By the end of training the best weights have become the last ones, and loading or saving them changes nothing.

Fix: best = copy.deepcopy(model.state_dict()), or {k: v.clone() for k, v in model.state_dict().items()}; or write
them to a file at once.

Cannot see: states that are kept in lists or handed to other functions, and whether training goes on at all.

Bad:
    import torch

    def fit(model, optimizer, train, validate, epochs):
        best, best_state = float("inf"), None
        for epoch in range(epochs):
            train(model, optimizer)
            loss = validate(model)
            if loss < best:
                best, best_state = loss, None
                best_state = model.state_dict()
        model.load_state_dict(best_state)
        return model

Bad (in an object that stops early):
    class EarlyStopping:
        def __init__(self, patience):
            self.patience, self.best_score, self.best_state, self.bad = patience, None, None, 0

        def step(self, score, model):
            if self.best_score is None or score > self.best_score:
                self.best_score, self.bad = score, 0
                self.best_state = model.state_dict()
            else:
                self.bad += 1
            return self.bad > self.patience

        def restore(self, model):
            model.load_state_dict(self.best_state)

Good:
    import copy
    import torch

    def fit(model, optimizer, train, validate, epochs):
        best, best_state = float("inf"), None
        for epoch in range(epochs):
            train(model, optimizer)
            loss = validate(model)
            if loss < best:
                best = loss
                best_state = copy.deepcopy(model.state_dict())
        model.load_state_dict(best_state)
        return model

Good (written at once; loaded at once into another network):
    import torch

    def fit(model, target, optimizer, train, validate, epochs):
        best = float("inf")
        for epoch in range(epochs):
            train(model, optimizer)
            loss = validate(model)
            if loss < best:
                best = loss
                best_state = model.state_dict()
                torch.save(best_state, "best.pt")
            state = model.state_dict()
            target.load_state_dict(state)
        model.load_state_dict(torch.load("best.pt"))
        return model
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainsleuth.facts import (
    Class,
    Event,
    Expr,
    Function,
    Index,
    Instance,
    Spot,
    is_sibling,
    is_test,
    mentions,
    written,
)
from trainsleuth.facts.reading.scopes import reaching
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "state-not-copied",
    "training-procedure",
    "error",
    "step_trace",
    suspects=("another-loop-fault",),
    claims=("state-dict-is-a-reference",),
    look="compare a weight of the kept state before and after the next step: it changes with the model's own",
    sure=("",),
)
_NO_MODEL = re.compile(r"optim|sched|scaler|opt$|loader|sampler", re.IGNORECASE)
_BEST = re.compile(r"best|early|lowest|highest", re.IGNORECASE)
_GATHERS = re.compile(rb"FullyShardedDataParallel|FSDP|deepspeed|state_dict_type|get_model_state_dict")
_COPIES = re.compile(r"deepcopy|clone|cpu|to$|numpy")


class _Kept(NamedTuple):
    """`name` is bound to the state of `model` by `event`."""

    function: Function
    position: int
    event: Event
    name: str
    model: Expr


def check(index: Index) -> Iterator[Finding]:
    for site in index.calls("state_dict"):
        function, position = site.function, site.position
        if not is_test(function.path) and (kept := _kept(function, position)) is not None:
            yield _examined(index, kept)


def _kept(function: Function, position: int) -> _Kept | None:
    """A state that is bound as it is to one name, where something is repeated: in a loop, or for an object called best."""
    event = function.events[position]
    value = event.value
    if event.kind != "assign" or value is None or len(event.targets) != 1 or event.targets[0].kind != "path":
        return None
    model = value.receiver if value.kind == "call" and value.last == "state_dict" and not value.arguments else None
    name = event.targets[0].text
    if model is None or model.kind != "path" or _NO_MODEL.search(model.text):
        return None
    own = bool(function.self_name) and name.startswith(f"{function.self_name}.") and name.count(".") == 1
    repeated = bool(event.block.loops) or (own and _BEST.search(name) is not None)
    return _Kept(function, position, event, name, model) if repeated and (own or "." not in name) else None


def _examined(index: Index, kept: _Kept) -> Finding:
    path, line = kept.function.path, kept.event.line
    if not kept.event.block.branches and not _BEST.search(kept.name):
        return SAY.passed(path, line, f"{kept.name} is bound anew in every round")
    if why := _unknown(index, kept):
        return SAY.open(path, line, why)
    if (use := _used_later(index, kept)) is None:
        return SAY.passed(path, line, f"{kept.name} is not seen to be loaded or saved after the loop that goes on")
    return _failure(kept, *use)


def _unknown(index: Index, kept: _Kept) -> str:
    """Why the state may be a copy after all."""
    if kept.function.source.holds(_GATHERS) or index.files[kept.function.path].body.source.holds(_GATHERS):
        return "the state may be gathered from several devices, which copies it"
    for thing in index.objects.of(kept.model, Spot(kept.function, kept.position)):
        kind = thing.kind if isinstance(thing, Instance) else None
        method = index.method(kind, "state_dict") if isinstance(kind, Class) else None
        if method is not None:
            return f"{method.owner} has a state_dict() of its own"
    return ""


def _used_later(index: Index, kept: _Kept) -> tuple[Function, Event] | None:
    """Where the state is loaded or saved when training has gone on, and nothing copied it before: not at once."""
    cls = index.class_of(kept.function) if "." in kept.name else None
    scope: Sequence[Function] = tuple(cls.methods.values()) if cls is not None else (kept.function,)
    for function in scope:
        name = kept.name if function.self_name == kept.function.self_name or "." not in kept.name else ""
        for position, event in enumerate(function.events):
            later = function is not kept.function or position > kept.position
            if name and later and event is not kept.event and _rebinds_copied(event, name):
                return None
            if name and later and any(_uses(call, name) for call in event.calls):
                if function is not kept.function or not _is_of_this_round(kept, position):
                    return function, event
    return None


def _is_of_this_round(kept: _Kept, position: int) -> bool:
    """What the name holds there is another state, or one that was surely taken in the same round: not in the other arm."""
    loops, block = kept.event.block.loops, kept.function.events[position].block
    is_inside = block.loops[: len(loops)] == loops
    found, certain = reaching(kept.function, kept.name, position)
    if certain and all(binding.position > kept.position for binding in found):
        return True
    if loops and is_inside and is_sibling(kept.event.block, block):
        return False
    return (certain and is_inside) or all(binding.position != kept.position for binding in found)


def _rebinds_copied(event: Event, name: str) -> bool:
    """best = copy.deepcopy(best); best = {k: v.clone() for k, v in best.items()}"""
    to_name = event.kind == "assign" and any(target.text == name for target in event.targets)
    return to_name and event.value is not None and any(_COPIES.search(part.last) for part in event.value.walk())


def _uses(call: Expr, name: str) -> bool:
    given = call.arguments[:1]
    loads = call.last == "load_state_dict" and not _NO_MODEL.search(written(call, 100).partition("(")[0])
    saves = call.callee in ("torch.save", "save")
    return bool(given) and (loads or saves) and mentions(given[0], [name])


def _failure(kept: _Kept, function: Function, use: Event) -> Finding:
    path, line = kept.function.path, kept.event.line
    model = written(kept.model)
    chain = (
        Link(path, line, f"{kept.name} shares its memory with the parameters of {model}"),
        Link(function.path, use.line, "it is used when training has gone on"),
    )
    message = (
        f"{kept.name} = {model}.state_dict() at {path}:{line} keeps no copy: its tensors are those of {model} and change with every step "
        f"that follows, so what is used at {function.path}:{use.line} are the last weights, not these; expected "
        f"copy.deepcopy({model}.state_dict())."
    )
    return SAY.fail(path, line, message, chain)
