"""Who goes over data loaders: loops, with whether they train, and libraries that evaluate on what they are given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainsleuth.facts import (
    Expr,
    Function,
    Index,
    Instance,
    Loop,
    Spot,
    bindings,
    external_name,
    header_of,
    is_made_in,
    is_test,
    makers,
    mentions,
)
from trainsleuth.facts.data.loaders import Loader, loaders_gone_over

from ._flags import is_ruled_out

_WRAPPERS = 3  # enumerate(tqdm(iter(loader)))
_BARS = ("tqdm", "trange", "track", "progress_bar")
_IN_PARTS = ("iter", "zip", "cycle", "islice", "zip_longest", "chain")
_KEEPING = frozenset(
    {"append", "extend", "update", "add", "add_batch", "process", "log", "evaluate", "write", "writerow", "accumulate"}
)
_HOOKS = {
    "val_dataloader": ("Lightning", "validation_step"),
    "test_dataloader": ("Lightning", "test_step"),
    "get_eval_dataloader": ("transformers", ""),
    "get_test_dataloader": ("transformers", ""),
}  # of a class below one of this library, which goes over what they return where the project has this method
_EVALUATING = {"fit": (2, "val_dataloaders"), "validate": (1, "dataloaders"), "test": (1, "dataloaders")}


class Use(NamedTuple):
    """One way over a loader, in these lines of a function. Not `whole`: it may be left before the end, take some batches
    only, or keep nothing of them. `step`: methods of this name are called by a library for each batch. `is_hook`: the function gives the
    loader back to that library.
    """

    loader: Loader
    function: Function
    line: int
    end_line: int
    trains: bool
    whole: bool
    step: str = ""
    is_hook: bool = False


def loader_uses(index: Index) -> Iterator[Use]:
    names = index.names_of_objects("DataLoader")
    for function in index.functions():
        if is_test(function.path):
            continue
        for loop in function.loops:
            if loop.kind == "for" and loop.source is not None and _may_be(function, loop.source, names):
                yield from _of_loop(index, function, loop, loop.source)
        if not function.called.isdisjoint(_IN_PARTS):
            yield from _taken_from(index, function)
        if function.name in _HOOKS and function.owner:
            yield from _returned(index, function)
    yield from _given_to_lightning(index)


def _may_be(function: Function, source: Expr, names: frozenset[str]) -> bool:
    """By spelling alone, which is cheap; also of bar = tqdm(loader)."""
    given = [one.value for one in bindings(function).get(source.text, ()) if one.value is not None]
    parts = (part for one in (source, *given) for part in one.walk() if part.kind in ("path", "attr"))
    return any(not names.isdisjoint(part.text.split(".")) for part in parts)


def _of_loop(index: Index, function: Function, loop: Loop, source: Expr) -> Iterator[Use]:
    begin = header_of(function, loop)
    backwards = [function.events[e.position].block for e in index.effects.of(function) if e.kind == "backward"]
    blocks = [block for block in backwards if loop.id in block.loops]
    whole = _keeps(function, loop) and not _leaves(function, loop) and not _is_repeated_for_good(function, loop)
    for frame in index.calling.contexts(function) if blocks else (None,):
        spot = Spot(function, begin, frame)
        trains = any(not is_ruled_out(index, block, spot) for block in blocks)
        for loader in _loaders(index, source, spot):
            yield Use(loader, function, loop.line, loop.end_line, trains, whole)


def _loaders(index: Index, source: Expr, spot: Spot) -> Iterator[Loader]:
    """Also of bar = tqdm(loader)."""
    yield from loaders_gone_over(index, source, spot, _WRAPPERS)
    for made, at in makers(index, source, spot) if source.kind == "path" else ():
        if made.kind == "call" and made.last in _BARS:
            yield from loaders_gone_over(index, made, at, _WRAPPERS)


def _keeps(function: Function, loop: Loop) -> bool:
    """Something of its batches outlasts them: it is added up, listed or given away."""
    for event in function.events:
        if loop.id in event.block.loops:
            if event.kind == "augment" or any(call.last in _KEEPING for call in event.calls):
                return True
            if event.kind == "assign" and any(
                _is_kept(function, loop, target, event.value) for target in event.targets
            ):
                return True
            if any(part.kind == "yield" for part in (event.value.walk() if event.value is not None else ())):
                return True
    return False


def _is_kept(function: Function, loop: Loop, target: Expr, value: Expr | None) -> bool:
    """total = total + loss, scores[i] = score"""
    base = target.parts[0] if target.kind == "index" else target
    is_added_to = target is not base or mentions(value, (base.text,))
    return base.kind == "path" and is_added_to and not is_made_in(function, base.text, loop)


def _is_repeated_for_good(function: Function, loop: Loop) -> bool:
    """while True: for batch in loader: yield batch; whoever draws from it ends where it likes."""
    block = function.events[header_of(function, loop)].block
    around = [one for one in function.loops if one.id in block.loops and one.id != loop.id]
    return any(one.kind == "while" and one.source is not None and one.source.text in ("True", "1") for one in around)


def _leaves(function: Function, loop: Loop) -> bool:
    inner = (event for event in function.events if event.block.loops and loop.id == event.block.loops[-1])
    return any(event.kind in ("break", "return") for event in inner)


def _taken_from(index: Index, function: Function) -> Iterator[Use]:
    """zip(one, other), batches = iter(loader): whoever draws from them may train."""
    trains = any(effect.kind == "backward" for effect in index.effects.of(function))
    for position, event in enumerate(function.events):
        if event.kind == "for" and event.value is not None and event.value.last != "zip":
            continue
        for call in event.calls:
            for given in call.arguments if call.last in _IN_PARTS else ():
                for loader in loaders_gone_over(index, given, Spot(function, position)):
                    yield Use(loader, function, call.line, call.line, trains, False)


def _returned(index: Index, function: Function) -> Iterator[Use]:
    """Of val_dataloader() and its like."""
    library, step = _HOOKS[function.name]
    cls = index.class_of(function)
    if cls is None or not any(library in base for base in index.external_bases(cls)):
        return
    if not step or index.functions_named(step):
        frame = index.frames.frame(function, None, None, Instance(cls))
        for value, at in index.frames.returns(frame):
            for one in value.parts if value.kind in ("list", "tuple") else (value,):
                for loader in _loaders(index, one, at):
                    yield Use(loader, function, function.line, function.end_line, False, True, step, is_hook=True)


def _given_to_lightning(index: Index) -> Iterator[Use]:
    """trainer.fit(model, train_loader, val_loader), trainer.test(model, loader)"""
    for site in index.calls(*_EVALUATING):
        given, receiver = site.call.argument(*_EVALUATING[site.call.last]), site.call.receiver
        spot = Spot(site.function, site.position)
        if given is None or receiver is None or is_test(site.function.path):
            continue
        if any(_is_trainer(external_name(thing)) for thing in index.objects.of(receiver, spot)):
            for one in given.parts if given.kind in ("list", "tuple") else (given,):
                for loader in _loaders(index, one, spot):
                    yield Use(loader, site.function, site.call.line, site.call.line, False, True, "validation_step")


def _is_trainer(name: str) -> bool:
    return "lightning" in name and name.endswith(".Trainer")
