"""Weights are kept to be compared with later ones, without a copy, so the difference is always 0.

`old[name] = p.data` keeps no values: it is the memory that the optimizer goes on writing to. A penalty on the distance from the
old weights is 0 and pulls nowhere, and an update that is measured so is none. A buffer that was registered so is the parameter
itself, in the state dict too.

Question to answer: do the parameters get other tensors in between?

Fix: p.detach().clone(); copy.deepcopy(model.state_dict()).

Cannot see: weights of a model that goes by another name where they are compared, differences that another function takes.

Bad:
    def fit(model, loss_of, optimizer, batches, strength):
        old = {name: p.data for name, p in model.named_parameters()}
        for x, y in batches:
            loss = loss_of(model(x), y)
            for name, p in model.named_parameters():
                loss = loss + strength * ((p - old[name]) ** 2).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

Bad (buffers):
    from torch import nn

    class Net(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.linear = nn.Linear(size, size)

        def consolidate(self):
            for name, p in self.named_parameters():
                self.register_buffer(f"{name.replace('.', '_')}_old", p.data)

        def penalty(self):
            terms = []
            for name, p in self.named_parameters():
                old = getattr(self, f"{name.replace('.', '_')}_old")
                terms.append(((p - old) ** 2).sum())
            return sum(terms)

Bad (an update that is measured):
    def update_of(model, train, batches):
        before = model.state_dict()
        train(model, batches)
        after = model.state_dict()
        return {name: after[name] - before[name] for name in after}

Good:
    import copy

    def update_of(model, train, batches):
        before = copy.deepcopy(model.state_dict())
        train(model, batches)
        after = model.state_dict()
        return {name: after[name] - before[name] for name in after}

Good (each parameter gets another tensor, so the kept one stays what it was):
    def swapped(model, average, evaluate):
        kept = {}
        for name, p in model.named_parameters():
            kept[name] = p.data
            p.data = average[name]
        score = evaluate(model)
        for name, p in model.named_parameters():
            p.data = kept[name]
        return score
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainsleuth.facts import Event, Expr, Function, Index, bindings, is_test, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "old-weights-not-copied",
    "training-procedure",
    "error",
    "",
    suspects=("another-loop-fault",),
    claims=("state-dict-is-a-reference",),
    look="print the difference after some steps: it stays 0",
)
_KEEPS = re.compile(rb"parameters\(\)|state_dict\(\)")
_LISTING = ("named_parameters", "parameters")
_COPIES = re.compile(r"deepcopy|copy|clone|cpu|numpy|load|float|half|double|to$")
_TRAINS = re.compile(r"(^|_)(train|fit|learn)|^(step|backward)$|^(train|fit)", re.I)


class _Kept(NamedTuple):
    """At event `position`, `store` begins to hold the weights of `model` themselves; "" for buffers."""

    function: Function
    position: int
    store: str
    model: str
    value: Expr

    @property
    def line(self) -> int:
        return self.value.line


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_KEEPS):
        if not is_test(function.path):
            for kept in _kept(function):
                finding = _examined(index, kept)
                if finding is not None:
                    yield finding


def _kept(function: Function) -> Iterator[_Kept]:
    for position, event in enumerate(function.events):
        value = event.value
        target = event.targets[0] if event.kind == "assign" and len(event.targets) == 1 else None
        if value is not None and target is not None and target.kind == "path":
            model = _listed(value, "state_dict") or _gathered(value)
            if model:
                yield _Kept(function, position, target.text, model, value)
        elif value is not None and target is not None and target.kind == "index" and target.parts[0].kind == "path":
            if model := _of_loop(function, event, value):
                yield _Kept(function, position, target.parts[0].text, model, value)
        for call in event.calls:
            held = call.argument(1, "tensor") if call.last == "register_buffer" else None
            if held is not None and (model := _of_loop(function, event, held)):
                yield _Kept(function, position, "", model, held)


def _listed(expr: Expr, *last_names: str) -> str:
    """The model of model.named_parameters(), as written."""
    receiver = expr.receiver if expr.kind == "call" and expr.last in last_names and not expr.arguments else None
    return receiver.text if receiver is not None and receiver.kind == "path" else ""


def _gathered(value: Expr) -> str:
    """The model of {name: p.data for name, p in model.named_parameters()}."""
    if value.kind != "each" or len(value.parts) < 2 or len(value.parts[1].parts) != 2:
        return ""
    target, source = value.parts[1].parts
    element = value.parts[0].parts[-1] if value.parts[0].kind == "pair" else value.parts[0]
    name = target.parts[-1] if target.kind == "tuple" else target
    return _listed(source, *_LISTING) if name.kind == "path" and _is_itself(element, name.text) else ""


def _of_loop(function: Function, event: Event, value: Expr) -> str:
    """The model whose parameters the loop around goes over, where the value is one of them."""
    for loop in function.loops:
        if loop.id in event.block.loops and loop.target is not None and loop.source is not None:
            name = loop.target.parts[-1] if loop.target.kind == "tuple" else loop.target
            if name.kind == "path" and _is_itself(value, name.text):
                return _listed(loop.source, *_LISTING)
    return ""


def _is_itself(expr: Expr, name: str) -> bool:
    """p.data and p.detach(), not p.data.clone()."""
    if expr.kind == "call" and expr.last == "detach" and expr.receiver is not None:
        expr = expr.receiver
    return expr.kind == "path" and expr.text in (name, f"{name}.data")


def _examined(index: Index, kept: _Kept) -> Finding | None:
    path, model = kept.function.path, kept.model
    cls = index.class_of(kept.function)
    is_own = bool(kept.function.self_name) and model.partition(".")[0] == kept.function.self_name
    outside = is_own and (not kept.store or "." in kept.store) and cls is not None
    scope = tuple(cls.methods.values()) if outside and cls is not None else (kept.function,)
    found = ((function, *one) for function in scope for one in _differences(function, kept))
    later = next((one for one in found if _is_after_training(kept, one[0], one[1])), None)
    if later is None:
        return None
    function, place, difference = later
    if any(_is_copied(one, kept) for one in scope):
        return SAY.passed(path, kept.line, f"{kept.store} is copied")
    if any(target.text.endswith(".data") for one in scope for event in one.events for target in event.targets):
        return SAY.open(path, kept.line, f"the parameters of {model} may get other tensors in between")
    if _is_bound_between(kept, function, place):
        return SAY.open(path, kept.line, f"{model}, or {kept.store}, may be another one where they are compared")
    return _failure(kept, function, difference)


def _is_bound_between(kept: _Kept, function: Function, place: int) -> bool:
    end = place if function is kept.function else len(kept.function.events)
    known = bindings(kept.function)
    return any(kept.position < one.position < end for name in (kept.model, kept.store) for one in known.get(name, ()))


def _is_copied(function: Function, kept: _Kept) -> bool:
    """old = copy.deepcopy(old), and old that gets something else altogether, in whatever method."""
    for binding in bindings(function).get(kept.store, ()):
        if binding.value is not None and any(_COPIES.search(part.last) for part in binding.value.walk() if part.last):
            return True
    return False


def _differences(function: Function, kept: _Kept) -> Iterator[tuple[int, Expr]]:
    """Where a weight of the model less one of those that were kept is taken."""
    taken = {
        name
        for name, each in bindings(function).items()
        for one in each
        if one.kind == "assign" and one.value is not None and not one.items and _is_old(one.value, kept, set())
    }
    for place, event in enumerate(function.events):
        if event.value is None or not any(part.kind == "binary" for part in event.value.walk()):
            continue
        olds = taken | _zipped(function, event, kept)
        for part in event.value.walk():
            if part.kind == "binary" and part.text == "-":
                for old, new in (part.parts, part.parts[::-1]):
                    if _is_old(old, kept, olds) and _is_new(function, event, new, kept):
                        yield place, part


def _zipped(function: Function, event: Event, kept: _Kept) -> set[str]:
    """The second of zip(model.parameters(), kept)."""
    return {
        name.text
        for target, source in _loops(function, event)
        if source.last == "zip" and target.kind == "tuple" and kept.store
        for name, given in zip(target.parts, source.arguments, strict=False)
        if given.text == kept.store
    }


def _loops(function: Function, event: Event) -> Iterator[tuple[Expr, Expr]]:
    """Targets and sources of the loops around the event, and of the comprehensions in it."""
    for loop in function.loops:
        if loop.id in event.block.loops and loop.target is not None and loop.source is not None:
            yield loop.target, loop.source
    for part in event.value.walk() if event.value is not None else ():
        if part.kind == "for" and len(part.parts) == 2:
            yield part.parts[0], part.parts[1]


def _is_old(expr: Expr, kept: _Kept, olds: set[str]) -> bool:
    if expr.kind == "path":
        return expr.text in olds
    if kept.store:
        return expr.kind == "index" and expr.parts[0].text == kept.store
    return expr.kind == "call" and expr.callee == "getattr" and expr.arguments[0].text == kept.function.self_name


def _is_new(function: Function, event: Event, expr: Expr, kept: _Kept) -> bool:
    """A parameter of the model that a loop gives, or one out of another state dict of it."""
    if expr.kind == "index":
        whole = expr.parts[0]
        if whole.text == kept.store and whole.kind == "path":
            return False
        made = [one.value for one in bindings(function).get(whole.text, ())] if whole.kind == "path" else [whole]
        return bool(made) and all(one is not None and _listed(one, "state_dict") == kept.model for one in made)
    for target, source in _loops(function, event):
        given = source.arguments if source.last == "zip" else (source,)
        names = target.parts if source.last == "zip" and target.kind == "tuple" else (target,)
        for name, one in zip(names, given, strict=False):
            last = name.parts[-1] if name.kind == "tuple" else name
            if _listed(one, *_LISTING) == kept.model and last.kind == "path" and _is_itself(expr, last.text):
                return True
    return False


def _is_after_training(kept: _Kept, function: Function, place: int) -> bool:
    """In another method, or behind what trains; not where nothing has changed yet."""
    if function is not kept.function:
        return True
    here, there = function.events[kept.position].block.loops, function.events[place].block.loops
    shared = next((loop for loop in there if loop not in here), None)
    events = function.events[kept.position + 1 : place] if place > kept.position else ()
    inside = [one for one in function.events if shared is not None and shared in one.block.loops]
    is_later = place > kept.position
    trained = any(_TRAINS.search(call.last) for event in (*events, *inside) for call in event.calls)
    return is_later and trained


def _failure(kept: _Kept, function: Function, difference: Expr) -> Finding:
    path, line = kept.function.path, kept.line
    shown = written(difference)
    chain = (
        Link(path, line, f"{written(kept.value)} shares its memory with the parameters of {kept.model}"),
        Link(function.path, difference.line, f"{shown} compares them with themselves"),
    )
    message = (
        f"{written(kept.value)} at {path}:{line} is kept without a copy and changes with {kept.model}, so {shown} at "
        f"{function.path}:{difference.line} is 0 whatever was trained in between. Is a clone meant?"
    )
    return SAY.fail(path, line, message, chain, "medium")
