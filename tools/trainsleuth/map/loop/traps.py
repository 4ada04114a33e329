"""What a careful reader of the program would notice, said with a place and without judgement."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from trainsleuth.facts import Function, Site, is_sibling, written

from ..calling.engines import ENGINE
from ..program import Program


def traps(program: Program) -> Iterator[str]:
    """One line each, at most a dozen in all."""
    yield from _unused_prepared(program)
    yield from _evaluation_without_eval(program)
    yield from _seeds_in_one_place(program)
    yield from _unresolved_step(program)


def _unused_prepared(program: Program) -> Iterator[str]:
    """What accelerator.prepare hands back must be what the loop reads."""
    for site, _ in program.calls("prepare"):
        event = site.event
        if not program.is_reached(site.function) or len(event.targets) != 1 or event.value is not site.call:
            continue
        targets = event.targets[0].parts if event.targets[0].kind == "tuple" else (event.targets[0],)
        for target, argument in zip(targets, site.call.arguments, strict=False):
            if target.kind != "path" or argument.kind != "path" or target.text == argument.text:
                continue
            if not _is_read(program, site, target.text):
                yield f"{site.function.path}:{site.call.line} {target.text} comes out of prepare() and is not used after it"


def _is_read(program: Program, site: Site, name: str) -> bool:
    """After the call; an attribute in any method of its class."""
    after = site.function.events[site.position + 1 :]
    cls = program.index.class_of(site.function) if name.startswith(f"{site.function.self_name}.") else None
    others = (
        [method.events for method in cls.methods.values() if method is not site.function] if cls is not None else []
    )
    return any(
        part.kind == "path" and (part.text == name or part.text.startswith(name + "."))
        for event in chain(after, *others)
        for expr in (event.value, *event.targets)
        if expr is not None
        for part in expr.walk()
    )


def _evaluation_without_eval(program: Program) -> Iterator[str]:
    quiet = None if program.training.step is None or program.training.framework is not None else _quiet(program)
    if quiet is not None and not any(_switches_off(program, name) for name in _OFF):
        yield f"{quiet.path}:{quiet.line} {quiet.name} runs under no_grad, and no .eval() is reached"


def _quiet(program: Program) -> Function | None:
    """The first function of an evaluation, by its name, that works with gradients off."""
    for function, _ in program.functions():
        if re.search(r"eval|valid|test", function.name, re.I):
            withs = (event.value for event in function.events if event.kind == "with")
            if any(value is not None and written(value).endswith("no_grad()") for value in withs):
                return function
    return None


def _switches_off(program: Program, name: str) -> bool:
    """net.eval(), net.train(False)"""
    return any(
        program.is_reached(site.function) and [one.text for one in site.call.parts[1:]] == _OFF[name]
        for site, _ in program.calls(name)
    )


_OFF = {"eval": [], "train": ["False"]}


def _seeds_in_one_place(program: Program) -> Iterator[str]:
    """Seeds set before processes are spawned do not hold inside them."""
    seeds = [site for site, _ in program.calls(*_SEEDS) if program.is_reached(site.function)]
    seeded = {site.function for site in seeds}
    spawns = [site for site, _ in program.calls("spawn") if program.is_reached(site.function) and site.call.arguments]
    for site in spawns:
        target = next((one for one in program.values.callables(site.function, site.call.arguments[0])), None)
        before = any(
            one.function is site.function
            and one.position < site.position
            and not is_sibling(one.event.block, site.event.block)
            for one in seeds
        )
        if before and isinstance(target, Function) and not _is_seeded(program, target, seeded):
            yield f"{site.function.path}:{site.call.line} seeds are set before spawn and not again in {site.call.arguments[0].text}"


_SEEDS = ("manual_seed", "seed_everything", "set_seed")


def _is_seeded(program: Program, target: Function, seeded: set[Function]) -> bool:
    """It sets them, or calls what does."""
    calls = (call for event in target.events for call in event.calls)
    return target in seeded or any(one in seeded for call in calls for one in program.graph.targets(target, call))


def _unresolved_step(program: Program) -> Iterator[str]:
    step = program.training.step
    if step is None:
        return
    roles = {sign.role for f in program.signs if program.is_reached(f) for sign in program.signs[f]}
    for role, word in (("optimizer step", "no optimizer step"), ("zero_grad", "no zero_grad")):
        if role not in roles and not _is_done(program, role):
            line = next(sign.site.call.line for sign in program.signs[step] if sign.role == "backward")
            yield f"{step.path}:{line} {word} was found in code that this program reaches"


_CALLED = {"optimizer step": "step", "zero_grad": "zero_grad"}
_OF_OPTIMIZER = re.compile(r"optim|solver|(?:^|\W|_)opt(?:s|$|\W|_|\d)", re.I).search


def _is_done(program: Program, role: str) -> bool:
    if any(map(_OF_OPTIMIZER, _receivers(program, _CALLED[role]))) or _is_done_by_engine(program):
        return True
    return _clears_by_hand(program) if role == "zero_grad" else _is_given_optimizer(program)


def _is_given_optimizer(program: Program) -> bool:
    """What goes backward is given the optimizer too: loss_scaler(loss, optimizer, parameters=net.parameters())"""
    signs = (sign for f in program.signs if program.is_reached(f) for sign in program.signs[f])
    calls = (sign.site.call for sign in signs if sign.role == "backward")
    return any(_OF_OPTIMIZER(one.last) for call in calls for one in call.arguments if one.kind == "path")


def _is_done_by_engine(program: Program) -> bool:
    """step() and train_batch() of an engine of DeepSpeed clear the gradients, the latter steps too."""
    return any(
        site.call.receiver is not None and ENGINE in program.values.of(site.function, site.call.receiver)
        for site, _ in chain(program.calls("step"), program.calls("train_batch"))
        if program.is_reached(site.function)
    )


def _receivers(program: Program, name: str) -> Iterator[str]:
    """Of the calls of a method in reached code, as written: model["optimizer"] of model["optimizer"].step()"""
    for site, _ in program.calls(name):
        if program.is_reached(site.function) and site.call.receiver is not None:
            yield written(site.call.receiver)


_CLEARS = re.compile(rb"\.grad(?:[ \t]*=[ \t]*None\b|(?:\.data)?\.zero_\()")


def _clears_by_hand(program: Program) -> bool:
    """for p in model.parameters(): p.grad = None"""
    return any(function.source.holds(_CLEARS) for function, _ in program.functions())
