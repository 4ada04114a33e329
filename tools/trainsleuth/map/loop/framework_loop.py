"""A loop that a framework holds: where the program hands over, what it makes for that, and the hooks it defines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import MODULE_BODY, Class, Expr, External, Function
from trainsleuth.facts.reading.scopes import bindings

from ..calling.binding import bound_names
from ..calling.edges import DIRECT
from ..calling.ways import line_of_call
from ..program import Program
from ..records import Place
from . import brain
from .frameworks import Framework, Handover, owned_by
from .hooks import callback_hooks, hook_methods
from .made_inside import made_inside
from .networks import calls_network
from .own_runners import own_loops


def handed_loop(program: Program) -> Iterator[Place]:
    framework = program.training.framework
    if framework is None:
        return
    for function, handovers in program.handed.items():
        for handover in handovers:
            if handover.framework == framework and program.is_reached(function):
                yield program.at(function, handover.site.call.line, "hand-over", program.weight(function) ** 0.3)
                yield from _made_for(program, function, handover)
    yield from _trainers(program, framework)
    for called in program.reached_calls:
        if _CLIPS.fullmatch(called.call.last):
            yield program.at(called.function, called.call.line, "clip", 0.75 * called.weight**0.3)
    for function, found in program.signs.items():
        for sign in found if program.is_reached(function) else ():
            if sign.role == "clip":
                yield program.at(function, sign.site.call.line, "clip", 0.75 * program.weight(function) ** 0.3)
    yield from _way_to(program)
    yield from _configured(program)
    for cls in program.training.hooked_classes:
        yield program.at(cls.body, cls.line, "class", 0.7 * program.weight(cls.body) ** 0.3)
        for rank, method in enumerate(hook_methods(framework, cls)):
            yield program.at(method, method.line, "hook", (0.95 - 0.02 * rank) * program.weight(method) ** 0.3)
            yield from _helpers(program, cls, method)
    for rank, method in enumerate(callback_hooks(program.index, framework, program.entry.reach.distance)):
        yield program.at(method, method.line, "hook", (0.8 - 0.04 * rank) * program.weight(method) ** 0.3)
    yield from _replaced(program, framework)
    forwards = [stage for stage in program.training.stages if stage.role == "forward"]
    for stage in forwards:
        yield program.at(stage.function, stage.line, "forward", 0.8)
    yield from _forwards(program) if not forwards else ()
    yield from brain.forwards(program)
    given = list(filter(None, (program.index.method(cls, "forward") for cls in program.training.handed_networks)))
    for forward in given:
        yield program.at_target(forward, "forward", 0.85)
    for step in (cls.methods[_STEP] for cls in program.training.hooked_classes if _STEP in cls.methods):
        for line in [event.line for event in step.events if event.kind == "return" and event.value is not None][-1:]:
            yield program.at(step, line, "loss given back", 0.6)
    for stage in program.training.stages:
        if stage.role == "loss" and (stage.function.name in framework.hooks or stage.function in given):
            yield program.at(stage.function, stage.line, "loss", 0.72)
    yield from made_inside(program)


def _replaced(program: Program, framework: Framework) -> Iterator[Place]:
    """Functions in the place of the framework's own methods, and what they do of the step."""
    for rank, function in enumerate(program.training.replaced):
        share = program.weight(function) ** 0.3
        yield program.at(function, function.line, "hook", (0.95 - 0.02 * rank) * share)
        for sign in program.signs.get(function, ()):
            yield program.at(function, sign.site.call.line, sign.role, 0.9 * share)
        for call in (call for event in function.events for call in event.calls):
            own = (
                call.receiver is not None and function.parameters and call.receiver.text == function.parameters[0].name
            )
            if own and call.last in framework.hooks and call.last != function.name:
                yield program.at(function, call.line, "call of a hook", 0.85 * share)


def _forwards(program: Program) -> Iterator[Place]:
    """Networks run by the step or by what it calls of its own object, where the loss is no value to trace them from."""
    for step in (cls.methods[_STEP] for cls in program.training.hooked_classes if _STEP in cls.methods):
        own = [
            edge.target for edge in program.graph.edges(step) if edge.cost == DIRECT and edge.target.owner == step.owner
        ]
        for function in dict.fromkeys((step, *own)):
            for call in (call for event in function.events for call in event.calls):
                if call.callee.startswith(f"{function.self_name}.") and calls_network(program.values, function, call):
                    yield program.at(function, call.line, "forward", 0.8)


_STEP = "training_step"
_CLIPS = re.compile(r"Grad(?:ient)?Clip\w*")  # a plugin that is told to


def _helpers(program: Program, cls: Class, hook: Function) -> Iterator[Place]:
    """Methods of its own that a hook of the step leaves the work to: self.training_step_g(batch)."""
    for event in hook.events if _LEAVES.search(hook.name) else ():
        for call in event.calls:
            own = call.receiver is not None and call.receiver.text == hook.self_name
            method = program.index.method(cls, call.last) if own and _STEPS.search(call.last) else None
            if method is not None and method is not hook:
                yield program.at_target(method, "step", 0.82)


_LEAVES = re.compile(r"step|^_prepare_inputs$")
_STEPS = re.compile(r"(?:^|_)(?:step|train|training|update|optimi[sz]e|generate|rollouts?)(?:_|$)")


def _way_to(program: Program) -> Iterator[Place]:
    """The calls down to the hand-over, nearest first, and the functions in which they stand."""
    way = program.training.ways.back(program.training.handed_over) if program.training.handed_over is not None else ()
    for rank, (caller, edge) in enumerate((caller, edge) for caller, edge in way if edge.position >= 0):
        yield program.at(caller, line_of_call(caller, edge), "call of the loop", 0.8 / (1 + 0.2 * rank))
        if edge.target.name != MODULE_BODY:
            yield program.at(edge.target, edge.target.line, "holds the loop", 0.77 / (1 + 0.2 * rank))


def _configured(program: Program) -> Iterator[Place]:
    """The section of a configuration that the trainer is built from."""
    found: dict[str, int] = {}
    for one in program.settings:
        if one.key.startswith(("trainer.", "runner.")) and one.path in program.index.configs:
            found[one.path] = min(one.line, found.get(one.path, one.line))
    yield from (Place(path, line, "configuration", 0.74) for path, line in found.items())


def _made_for(program: Program, function: Function, handover: Handover) -> Iterator[Place]:
    """What is bound to the names of the trainer and of what it is handed: trainer = instantiate(cfg.trainer)."""
    call, weight = handover.site.call, program.weight(function) ** 0.3
    for score, role, given in ((0.9, "trainer", [call.receiver]), (0.72, "handed over", call.arguments)):
        for one in given:
            for made in _bound_calls(function, one):
                yield program.at(function, made.line, role, score * weight)
    if call.receiver is not None:
        yield from _registered(program, function, call.receiver.text)


_HOOKS = re.compile(r"(?:add|register)_\w*(?:hooks?|callbacks?|cbs?)$")
_HELD = re.compile(r"\.(?:callbacks|callback_fns|cbs|hooks)$")


def _registered(program: Program, function: Function, trainer: str) -> Iterator[Place]:
    """What the trainer is to call besides: runner.register_hook(...), learner.callbacks += [...]."""
    for event in function.events:
        added = event.kind == "augment" and any(
            target.text.startswith(f"{trainer}.") and _HELD.search(target.text) for target in event.targets
        )
        called = (one for one in event.calls if one.receiver is not None and one.receiver.text == trainer)
        for line in [event.line] if added else [one.line for one in called if _HOOKS.match(one.last)]:
            yield program.at(function, line, "registered", 0.78 * program.weight(function) ** 0.3)


def _bound_calls(function: Function, name: Expr | None) -> Iterator[Expr]:
    found = bindings(function).get(name.text, ()) if name is not None and name.kind == "path" else ()
    for binding in found:
        if binding.value is not None and binding.value.kind == "call":
            yield binding.value


_MAKES = re.compile(r"from_|build|create|make")


def _trainers(program: Program, framework: Framework) -> Iterator[Place]:
    """Where the object that holds the loop is made, and its class when the repository derives one."""
    for called in program.reached_calls:
        for target in called.targets:
            if isinstance(target, Class | External) and owned_by(program.index, target) == framework:
                *_, holder, last = ("", *target.name.split("."))
                if last.endswith(framework.classes) or (holder.endswith(framework.classes) and _MAKES.match(last)):
                    yield program.at(called.function, called.call.line, "trainer", 0.92 * called.weight**0.3)
                    for name in bound_names(called.event):
                        yield from _registered(program, called.function, name)
                    if isinstance(target, Class):
                        yield program.at_target(target, "class", 0.85 * called.weight**0.3)
                        yield from own_loops(program, framework, target)
