"""Where a framework holds the loop: what its step consists of in the methods that the repository gives it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set

from trainsleuth.facts import Class, Event, Expr, Function

from ..calling.edges import DIRECT
from ..program import Program
from ..records import Place
from .networks import calls_loss, calls_network, is_loss_class, is_network

NEAR = 3  # calls from the hook to a method of its own object
_STEPS = ("training_step", "train_step", "forward_train", "compute_loss")
_SCORES = {"loss": 0.68, "sum": 0.62, "source": 0.6, "through": 0.62}


def made_inside(program: Program) -> Iterator[Place]:
    own = _of_the_hooks(program)
    for stage in program.training.stages:
        if stage.function in own and stage.role in _SCORES:
            yield program.at(stage.function, stage.line, stage.role, _SCORES[stage.role] / (1 + 0.15 * stage.hops))
    for function, hops in own.items():
        share = 1 / (1 + 0.1 * hops)
        for call in (call for event in function.events for call in event.calls):
            if call.callee == function.self_name:  # self(images), in the step of what is the network
                yield program.at(function, call.line, "forward", 0.88 * share)
            elif any(one in own and one is not function for one in program.graph.targets(function, call)):
                yield program.at(function, call.line, "part of the step", 0.6 * share)
            elif _runs_part(program, function, call):
                yield program.at(function, call.line, "forward", 0.6 * share)
    if not any(stage.role == "forward" for stage in program.training.stages):
        yield from _networks_with_loss(program)


def _of_the_hooks(program: Program) -> Mapping[Function, int]:
    """The methods that make the loss, and those of the same object that they call, with how many calls away."""
    hooked = frozenset(program.training.hooked_classes)
    found: dict[Function, int] = {}
    near = [method for cls in program.training.hooked_classes for name, method in cls.methods.items() if name in _STEPS]
    for hops in range(NEAR + 1):
        for one in near:
            found.setdefault(one, hops)
        edges = (edge for one in near for edge in program.graph.edges(one) if edge.cost == DIRECT)
        below = dict.fromkeys(edge.target for edge in edges if edge.target not in found)
        near = [one for one in below if _goes_on(program, hooked, one)]
    return found


def _goes_on(program: Program, hooked: Set[Class], target: Function) -> bool:
    return program.index.class_of(target) in hooked and not _EVALUATES.search(target.name)


_EVALUATES = re.compile(r"(?:^|_)(?:eval|val|valid|validation|test|predict|infer|inference|sample|log)(?:_|$)")


def _runs_part(program: Program, function: Function, call: Expr) -> bool:
    """self.backbone(images)"""
    own = call.callee.startswith(f"{function.self_name}.") and not _EVALUATES.search(call.last)
    return own and calls_network(program.values, function, call)


def _networks_with_loss(program: Program) -> Iterator[Place]:
    """forward() of a network that makes its loss itself, which the framework calls unseen."""
    for function, weight in program.functions():
        owner = program.index.class_of(function) if function.name == "forward" else None
        if owner is None or not is_network(program.index, owner) or is_loss_class(program.index, owner):
            continue
        made = [event for event in function.events if _makes_loss(program, function, event)]
        for event in made:
            yield program.at(function, event.line, "loss", 0.7 * weight**0.5)
        for event in function.events if made else ():
            if event.kind == "if" and event.value is not None and event.value.text == f"{function.self_name}.training":
                yield program.at(function, event.line, "asks", 0.6 * weight**0.5)
            for call in event.calls if event not in made else ():
                if calls_network(program.values, function, call):
                    yield program.at(function, call.line, "forward", 0.68 * weight**0.5)
        if made:
            yield program.at(function, function.line, "forward", 0.8 * weight**0.5)


def _makes_loss(program: Program, function: Function, event: Event) -> bool:
    return event.kind == "assign" and any(calls_loss(program.values, function, call) for call in event.calls)
