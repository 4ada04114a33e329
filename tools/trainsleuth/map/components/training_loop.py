"""Where the parameters change: the loops, and in them forward, backward, step, zero_grad, clip, schedule."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from trainsleuth.facts import MODULE_BODY, Event, Expr, External, Function

from ..loop.framework_loop import handed_loop
from ..loop.own_runners import STEPS
from ..loop.parameter_holders import changes_parameters
from ..loop.quiet import is_quiet
from ..loop.steps import averages, averages_weights, sets_learning_rate, writes_learning_rate
from ..program import Program
from ..records import Place
from ..signs.around_the_step import around_the_step, of_a_runner
from ..signs.experience import collected, collectors
from ..signs.named_loops import SAYS_TRAIN, beside_the_step, calls_above, named_loops, networks_run

SCORES = {
    "backward": 1.0,
    "optimizer step": 0.98,
    "zero_grad": 0.95,
    "scheduler step": 0.8,
    "clip": 0.75,
    "rescale": 0.72,
    "scaler update": 0.45,
    "unscale": 0.4,
}


def places(program: Program) -> Iterator[Place]:
    yield from handed_loop(program)
    yield from _averaged(program)
    step = program.training.step
    if step is None:
        yield from _own_loop(program)
        return
    for function in program.training.steppers:
        yield from _step(program, function, 1.0 if function is step or _belongs(step, function) else 0.45)
    down = list(program.training.ways.calls_down_to(step))
    near = {step, *(caller for caller, _, _ in (*program.training.ways.loops_down_to(step), *down))}
    yield from _helpers(program, step, near)
    yield from around_the_step(program, near)
    yield from of_a_runner(program)
    for function in near:  # where losses are gathered in a table no way leads back from them
        yield from networks_run(program, function)
    if step.name != "<module>":
        yield program.at(step, step.line, "step", 0.79)
    for caller, loop, _ in program.training.ways.loops_down_to(step):
        yield program.at(caller, loop.line, "loop", 0.93)
        yield from beside_the_step(program, caller, loop)
    for caller, line, target in down:
        yield program.at(caller, line, "call of the step", 0.9)
        yield program.at(target, target.line, "step", 0.62)
    if down and down[-1][0].name != MODULE_BODY:
        yield program.at(down[-1][0], down[-1][0].line, "holds the loop", 0.66)
    yield from _prepared(program)
    for function in (step, *(caller for caller, _, _ in down)):
        yield from _made(program, function)
    for caller, line in program.training.ways.direct_calls(step):
        yield program.at(caller, line, "call of the step", 0.72)
    yield from _of_others(program)
    yield from calls_above(program, step)
    for function in near - {step}:
        yield from _beside(program, function)
    for function in (*near, *collectors(program, near)):
        yield from collected(program, function)
    yield from _other_loops(program, step)
    if not down and step.owner:
        yield from _of_library(program, step)
    if not program.training.ways.is_repeated(step):
        yield from named_loops(program)


def _helpers(program: Program, step: Function, near: Set[Function]) -> Iterator[Place]:
    """What other reached functions do of a step, and where those near it call them."""
    for function, signs in program.signs.items():
        if program.is_reached(function) and function not in program.training.steppers:
            is_aside = any(sign.role == "backward" for sign in signs)
            is_near = function in near or any(_belongs(one, function) for one in near)
            share = 0.85 if is_near and not is_aside else 0.4
            role = next((sign.role for sign in signs if sign.role in _OF_STEPS), "")
            for caller, line in program.callers(function) if role else ():
                if caller in near:
                    yield program.at(caller, line, role, 0.9 * SCORES[role])
            for sign in signs:
                yield program.at(
                    function,
                    sign.site.call.line,
                    sign.role,
                    share * SCORES[sign.role] * program.weight(function) ** 0.3,
                )


def _of_others(program: Program) -> Iterator[Place]:
    """The loops and steps of another optimizer, or of another network."""
    for other in program.training.steppers[1:3]:
        yield from (
            program.at(where, loop.line, "loop", 0.78) for where, loop, _ in program.training.ways.loops_down_to(other)
        )
        for where, line, target in program.training.ways.calls_down_to(other):
            yield program.at(where, line, "call of the step", 0.74)
            yield program.at(target, target.line, "step", 0.5)


def _beside(program: Program, function: Function) -> Iterator[Place]:
    """What a function above the step does with weights and gradients."""
    for event in function.events:
        if averages(event):
            yield program.at(function, event.line, "averaged weights", 0.72)
        elif any(_CLIPS.search(call.last) for call in event.calls):
            yield program.at(function, event.line, "clip", 0.7)
        elif event.block.loops and any(_hands_round(call) for call in event.calls):
            yield program.at(function, event.line, "weights handed round", 0.72)
        elif event.block.loops and event.kind == "assign" and any(_runs_a_player(call) for call in event.calls):
            yield program.at(function, event.line, "forward", 0.68)


def _runs_a_player(call: Expr) -> bool:
    """fake = self.generator(noise), above steps that other functions make."""
    return call.callee.rpartition(".")[2].lower() in _PLAYERS and bool(call.arguments)


_PLAYERS = frozenset({"generator", "discriminator", "netg", "netd", "net_g", "net_d", "actor", "critic", "teacher", "student", "model", "net"})  # fmt: skip


def _averaged(program: Program) -> Iterator[Place]:
    """Functions that move averaged weights, where they are called, and the hook of a framework that does."""
    for function, weight in program.functions():
        if averages_weights(function):
            share = weight**0.3
            yield program.at(function, function.line, "averaged weights", 0.7 * share)
            for caller, line in program.callers(function):
                share = program.weight(caller) ** 0.3 if program.is_reached(caller) else 0.0
                yield program.at(caller, line, "averaged weights", 0.72 * share)
                if _IS_HOOK.match(caller.name):
                    yield program.at(caller, caller.line, "averaged weights", 0.7 * share)


_IS_HOOK = re.compile(r"(?:on|before|after)_|training_step")


def _hands_round(call: Expr) -> bool:
    """global_model.load_state_dict(averaged), target.load_state_dict(net.state_dict()): weights that no file holds."""
    given = call.argument(0, "state_dict") if call.last == "load_state_dict" else None
    if given is None or (call.receiver is not None and _NO_NETWORK.search(call.receiver.last)):
        return False
    return (given.kind == "path" and not _OF_FILE.search(given.text)) or given.last == "state_dict"


_OF_FILE = re.compile(r"checkpoint|ckpt|pretrain|saved|loaded|resume|best", re.I)
_NO_NETWORK = re.compile(r"optim|sched|scaler|loader|sampler", re.I)


def _made(program: Program, step: Function) -> Iterator[Place]:
    """Where the frame of the program makes the object that trains."""
    owner = program.index.class_of(step) if step.self_name else None
    for cls, sites in program.made_at.items() if owner is not None else ():
        if owner in program.index.lineage(cls):
            yield from (program.at(one, line, "trainer", 0.7) for one, line in sites if one in program.training.spine)


def _of_library(program: Program, step: Function) -> Iterator[Place]:
    """Where nothing is seen to call the step, which is a method: its class, and what the entry calls of a library."""
    cls = program.index.class_of(step)
    if cls is not None and program.index.external_bases(cls):
        yield program.at(cls.body, cls.line, "trainer", 0.85)
    for called in program.reached_calls:
        near = program.entry.reach.distance[called.function] <= 2
        if near and any(isinstance(one, External) and SAYS_TRAIN.match(called.call.last) for one in called.targets):
            yield program.at(called.function, called.call.line, "call of the loop", 0.95)


_OF_STEPS = ("scheduler step", "optimizer step", "zero_grad", "backward")


def _prepared(program: Program) -> Iterator[Place]:
    """Where accelerate takes what the loop works with: its backward and its steps are others than they look."""
    for called in program.reached_calls:
        call = called.call
        if call.last == "prepare" and call.receiver is not None and call.receiver.last.endswith("accelerator"):
            yield program.at(called.function, call.line, "prepared", 0.8 * called.weight**0.3)


def _own_loop(program: Program) -> Iterator[Place]:
    """A loop of the repository around the step of the framework: a trainer that overrides train()."""
    for function, signs in program.signs.items():
        if program.is_reached(function) and any(sign.role == "optimizer step" for sign in signs):
            yield program.at(function, function.line, "loop", 0.8)
            yield from _step(program, function, 0.95)
            for event in function.events:
                for call in event.calls:
                    if call.last in STEPS and event.block.loops:
                        yield program.at(function, call.line, "call of the step", 0.93)


_CLIPS = re.compile(r"clip_?(?:grad|norm)", re.I)


def _other_loops(program: Program, step: Function) -> Iterator[Place]:
    """Loops of other reached functions around the same step: an online and an offline trainer of one agent."""
    way = {step: 0, **{target: 0 for _, _, target in program.training.ways.calls_down_to(step)}}
    known = {caller for caller, _, _ in program.training.ways.calls_down_to(step)} | way.keys()
    for target in way:
        for caller, line in program.callers(target):
            event = next((event for event in caller.events if event.line == line), None)
            share = 0.8 if caller in known else 1.0  # the other arm of a choice
            for number in event.block.loops if event is not None else ():
                yield program.at(caller, caller.loops[number].line, "loop", 0.85 * share)
                yield program.at(caller, line, "call of the step", 0.84 * share)


def _belongs(step: Function, function: Function) -> bool:
    return step.path == function.path and (not step.owner or step.owner == function.owner)


def _step(program: Program, function: Function, share: float) -> Iterator[Place]:
    """The statements of one function that calls backward, and the loops around them."""
    loops: set[int] = set()
    for sign in program.signs[function]:
        yield program.at(function, sign.site.call.line, sign.role, share * SCORES[sign.role])
        if sign.role in ("backward", "optimizer step"):
            loops.update(sign.site.event.block.loops)
    for number in loops:
        loop = function.loops[number]
        yield program.at(function, loop.line, "loop", share * (0.97 if len(loops) < 3 else 0.9))
    for event in function.events:
        if writes_learning_rate(function, event):
            yield program.at(function, event.line, "learning rate", share * 0.8)
        elif averages(event):
            yield program.at(function, event.line, "averaged weights", share * 0.78)
        elif event.kind == "with" and loops.intersection(event.block.loops) and _counts(event):
            yield program.at(function, event.line, "accumulation", share * 0.8)
        for call in event.calls:
            if _CLIPS.search(call.last):
                yield program.at(function, call.line, "clip", share * 0.74)
            elif call.callee == "next" and loops.intersection(event.block.loops):
                yield program.at(function, call.line, "batch", share * 0.8)
            elif _sets_rate(program, function, call):
                yield program.at(function, call.line, "learning rate", share * 0.8)
            elif event.kind == "expression" and any(
                isinstance(one, Function) and one is not function and averages_weights(one)
                for one in program.graph.targets(function, call)
            ):
                yield program.at(function, call.line, "averaged weights", share * 0.78)
            elif call.receiver is not None and _changes_parameters(program, function, call):
                yield program.at(function, call.line, "parameters", share * 0.78)
    yield from _forwards(program, function, share)
    for stage in program.training.stages:
        if stage.role == "batch" and stage.function is function:
            around = any(function.loops[number].line == stage.line for number in loops)
            yield program.at(function, stage.line, "loop", share * (0.97 if around else 0.6))
        elif stage.role == "loss" and stage.function is function and stage.event.block.loops:
            yield program.at(function, stage.line, "loss", share * 0.86)
        elif stage.role in ("loss", "sum", "source") and stage.function is function and not stage.hops:
            if not loops or loops & set(stage.event.block.loops):  # else it is made once, before the loop
                yield program.at(function, stage.line, "loss", share * 0.74)


def _counts(event: Event) -> bool:
    """A context that decides in which rounds gradients are synchronised and steps are made."""
    return event.value is not None and event.value.last in ("accumulate", "no_sync")


_SAYS_RATE = re.compile(r"(?:^|_)lr(?:_|$)|learning_?rate", re.I)


def _sets_rate(program: Program, function: Function, call: Expr) -> bool:
    """A function of the project that is named after the rate, and sets it."""
    targets = program.graph.targets(function, call) if _SAYS_RATE.search(call.last) else ()
    return any(isinstance(one, Function) and sets_learning_rate(one) for one in targets)


def _changes_parameters(program: Program, function: Function, call: Expr) -> bool:
    targets = program.graph.targets(function, call)
    return any(isinstance(one, Function) and changes_parameters(program.index, one) for one in targets)


NO_GRADIENTS = 0.8  # of a network that only gives the loss something to compare with
FAINTER = 0.97  # one forward call after another, from the nearest to backward up


def _forwards(program: Program, function: Function, share: float) -> Iterator[Place]:
    """Calls of networks in the step or above it; where there is none, the nearest of what they call is the forward."""
    stages = [stage for stage in program.training.stages if stage.role in ("forward", "through")]
    near = [stage for stage in stages if not stage.hops]
    for rank, stage in enumerate(sorted(near, key=lambda one: is_quiet(one.event))):  # that of a reference last
        kept = NO_GRADIENTS if is_quiet(stage.event) else 1.0
        yield program.at(stage.function, stage.line, "forward", share * kept * 0.96 * FAINTER**rank)
    for rank, stage in enumerate(one for one in stages if one.hops and one.role == "forward"):
        first = 0.93 if not rank and all(stage.role == "through" for stage in near) else 0.85 / (1 + 0.3 * stage.hops)
        yield program.at(stage.function, stage.line, "forward", share * first)
