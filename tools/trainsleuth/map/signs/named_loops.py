"""Loops around calls that say that they train, and the calls from the entry down to them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import MODULE_BODY, External, Function, Loop

from ..calling.edges import DIRECT
from ..loop.networks import calls_network
from ..program import Program
from ..records import Place


def calls_above(program: Program, function: Function) -> Iterator[Place]:
    """The calls down to the loop that goes around `function`, or stands in it."""
    for rank, (caller, line) in enumerate(program.training.ways.calls_above(function)):
        yield program.at(caller, line, "call of the loop", 0.7 / (1 + 0.2 * rank))
        if caller.name != MODULE_BODY:
            yield program.at(caller, caller.line, "holds the loop", 0.62 / (1 + 0.2 * rank))


NEAR_ENTRY = 6  # distance of a function
SAYS_TRAIN = re.compile(
    r"^_?(?:(?:train|learn)(?:_\w+)?|\w+_(?:train|learn)|update_(?:weights|parameters|policy|networks?)|"
    r"(?:run|optimi[sz]e)_(?:step|epoch|iter))$"
)


def named_loops(program: Program) -> Iterator[Place]:
    """Where no way is read from a loop to the step: loops around calls that say that they train."""
    for function, weight in program.functions():
        own = _is_of_the_object(program, function)
        near = own or program.entry.reach.distance[function] <= NEAR_ENTRY
        for event in function.events if near else ():
            for call in event.calls if event.block.loops else ():
                if not SAYS_TRAIN.match(call.last):
                    continue
                targets = program.graph.targets(function, call)
                inherited = own and call.callee == f"{function.self_name}.{call.last}"
                if inherited or not any(isinstance(one, External) for one in targets):
                    yield program.at(function, call.line, "call of the step", 0.85 * weight**0.3)
                    for number in event.block.loops:
                        yield program.at(function, function.loops[number].line, "loop", 0.86 * weight**0.3)
                    yield from calls_above(program, function)
                    for one in targets:
                        if isinstance(one, Function):
                            yield program.at_target(one, "step", 0.6)
                            yield from networks_run(program, one)


def _is_of_the_object(program: Program, function: Function) -> bool:
    """A method of the class that has the step, or of one above, where the base of another library may call the step."""
    step = program.training.step
    owner = program.index.class_of(step) if step is not None and step.self_name else None
    if owner is None or not function.self_name or not program.index.external_bases(owner):
        return False
    return program.index.class_of(function) in program.index.lineage(owner)


def beside_the_step(program: Program, function: Function, loop: Loop) -> Iterator[Place]:
    """What the loop calls besides the step and says that it trains: run_step(), where a hook then goes backward."""
    for event in function.events:
        for call in event.calls if loop in (function.loops[number] for number in event.block.loops) else ():
            for one in program.graph.targets(function, call) if SAYS_TRAIN.match(call.last) else ():
                found = list(networks_run(program, one)) if isinstance(one, Function) else []
                if found and isinstance(one, Function):
                    yield program.at(function, call.line, "call of the step", 0.85)
                    yield program.at_target(one, "step", 0.6)
                    yield from found


def networks_run(program: Program, function: Function) -> Iterator[Place]:
    """What a function runs forward, itself or by a method of its object, where no loss is seen to come from a network: a
    hook has it, or a table holds it.
    """
    stages = (stage for stage in program.training.stages if stage.role in ("forward", "through"))
    if any(one.function.name != MODULE_BODY or one.function.path == program.entry.path for one in stages):
        return  # what a file of networks does when it is started itself says nothing of this program
    for event in function.events:
        for call in event.calls:
            if calls_network(program.values, function, call):
                yield program.at(function, call.line, "forward", 0.88)
    for edge in program.graph.edges(function):
        method = edge.target
        if edge.cost == DIRECT and edge.position >= 0 and method.owner and method.owner == function.owner:
            inner = [
                one for event in method.events for one in event.calls if calls_network(program.values, method, one)
            ]
            if inner and function.events[edge.position].block.loops:
                yield program.at(function, function.events[edge.position].line, "forward", 0.87)
                yield from (program.at(method, one.line, "forward", 0.8) for one in inner)
