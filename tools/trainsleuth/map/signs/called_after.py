"""What is only called after evaluation: eval() of a schedule, val_update() of a tree, eval_actor() of a network."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Class, Expr, Function, written

from ..loop.networks import calls_loss, calls_network, is_network
from ..program import Program
from .measures import measures

MOST_CALLS = 3  # from a method to what it has done
_EVALUATES = re.compile(r"[Ee]val|[Vv]alid|[Tt]est|[Mm]etric|[Ss]cor|[Mm]eter")
_FORWARDS = re.compile(r"_?eval_\w+")


def is_of_another_kind(program: Program, function: Function, call: Expr) -> bool:
    """Every function of the project that a call may run, or that has the name of a method, evaluates nothing."""
    found = program.graph.targets(function, call)
    if not found and call.receiver is not None:
        found = program.index.functions_named(call.last)
    return bool(found) and all(
        isinstance(one, Function) and (only_computes(program, one) or only_forwards(program, one)) for one in found
    )


def only_forwards(program: Program, function: Function) -> bool:
    """eval_actor(obs) of a network, or of what hands it on to one: a part of a forward pass, of which nothing is measured."""
    if not _FORWARDS.fullmatch(function.name) or function.loops or not function.owner:
        return False
    owner, name = program.index.class_of(function), function.name.lstrip("_")
    calls = [call for event in function.events for call in event.calls]
    inside = owner is not None and is_network(program.index, owner)
    handed_on = any(call.last == name and call.receiver is not None for call in calls)
    measured = any(measures(call) or calls_loss(program.values, function, call) for call in calls)
    return (inside or handed_on) and not measured


def only_computes(program: Program, method: Function) -> bool:
    """A method of what measures nothing by its name, which with all that it calls goes over nothing and runs no network."""
    owner = program.index.class_of(method)
    if owner is None or _EVALUATES.search(owner.name):
        return False
    seen, last = {method}, [method]
    for _ in range(MOST_CALLS):
        if any(_may_evaluate(program, one) for one in last):
            return False
        last = [one for called in last for one in _called(program, called) if one not in seen]
        seen.update(last)
    return not last


def _called(program: Program, function: Function) -> Iterator[Function]:
    for event in function.events:
        for target in (one for call in event.calls for one in program.graph.targets(function, call)):
            made = target.methods.get("__init__") if isinstance(target, Class) else target
            if isinstance(made, Function):
                yield made


def _may_evaluate(program: Program, function: Function) -> bool:
    if function.loops or any(one.last in ("no_grad", "inference_mode") for one in function.decorators):
        return True
    for event in function.events:
        parts = (*event.targets, *((event.value,) if event.value is not None else ()))
        if any(part.kind == "each" for one in parts for part in one.walk()):
            return True
        if event.kind == "with" and event.value is not None and "no_grad" in written(event.value):
            return True
        if any(_runs(program, function, call) for call in event.calls):
            return True
    return False


def _runs(program: Program, function: Function, call: Expr) -> bool:
    """A network, or what measures or evaluates by its name."""
    if call.callee == function.self_name or call.last == "forward" or calls_network(program.values, function, call):
        return True
    return measures(call) or _EVALUATES.search(call.last) is not None
