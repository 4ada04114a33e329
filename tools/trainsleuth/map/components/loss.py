"""What is minimised: the loss calls that lead to backward, the losses that are built, and where they are defined."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from trainsleuth.facts import Class, Event, Expr, Function, Variable
from trainsleuth.facts.reading.scopes import Binding, bindings

from ..loop.batch_path import Stage
from ..loop.frameworks import owned_by
from ..loop.networks import is_loss_class, is_loss_name, is_network
from ..program import Program
from ..records import Place
from ..signs.environments import environments, rewards_by
from ..signs.unused import is_unused


def places(program: Program) -> Iterator[Place]:
    for stage in program.training.stages:
        if stage.role == "loss":
            share = 1.0 / (1 + 0.06 * stage.hops)
            yield program.at(stage.function, stage.line, "loss", share)
            for call in stage.event.calls:
                for target in program.graph.targets(stage.function, call):
                    if isinstance(target, Function) and is_loss_name(target.name):
                        yield program.at(target, target.line, "definition", 0.9 * share)
        elif stage.role == "sum" and stage.hops < 2:
            yield program.at(stage.function, stage.line, "sum", 0.8 / (1 + 0.2 * stage.hops))
        if stage.role == "loss":
            yield from _compared(program, stage)
        if stage.role in ("loss", "sum"):
            yield from _short(program, stage)
        if stage.role in ("loss", "sum") and stage.hops == 1:
            yield program.at(stage.function, stage.function.line, "definition", 0.78)
    known = any(stage.role == "loss" for stage in program.training.stages)
    if not any(stage.role in ("loss", "sum") for stage in program.training.stages):
        yield from _minimised(program)
        yield from _of_forward(program)
    share = 0.7 if known else 1.0
    yield from (
        place._replace(score=share * place.score)
        for place in (*_built(program), *_defined(program), *_formulas(program))
    )
    yield from _rewards(program)
    for method in chain.from_iterable(rewards_by(program.index, cls) for cls in environments(program)):
        yield program.at(method, method.line, "reward", 0.6)
    yield from _targets(program)
    yield from _assigned(program)
    yield from _ignored(program)
    yield from _chosen(program)


def _compared(program: Program, stage: Stage) -> Iterator[Place]:
    """What the loss is computed from, where that is worked out first: target = reward + gamma * best, returns = ..."""
    run = {(one.function, one.line) for one in program.training.stages if one.role in ("forward", "batch", "source")}
    position = next((at for at, event in enumerate(stage.function.events) if event is stage.event), 0)
    given = (part for call in stage.event.calls for one in call.arguments for part in one.walk() if part.kind == "path")
    for name in dict.fromkeys(part.text for part in given):
        before = [one for one in bindings(stage.function).get(name, ()) if one.position < position]
        for binding in before[-1:]:
            event = stage.function.events[binding.position]
            made = binding.value is not None and binding.value.kind in _WORKED_OUT and not binding.items
            if made and (stage.function, event.line) not in run:
                yield program.at(stage.function, event.line, "compared", COMPARED / (1 + 0.2 * stage.hops))
                for line in _made_of(stage.function, binding):
                    if (stage.function, line) not in run:
                        yield program.at(stage.function, line, "compared", MADE_OF / (1 + 0.2 * stage.hops))


def _made_of(function: Function, binding: Binding) -> Iterator[int]:
    """Where the names in what is compared were worked out: ratio = exp(...) above surrogate = ratio * advantage."""
    parts = (part for part in binding.value.walk() if part.kind == "path") if binding.value is not None else ()
    for name in dict.fromkeys(part.text for part in parts):
        for one in [one for one in bindings(function).get(name, ()) if one.position < binding.position][-1:]:
            if one.value is not None and one.value.kind in ("binary", "call") and not one.items:
                yield function.events[one.position].line


COMPARED, MADE_OF = 0.5, 0.42
_WORKED_OUT = ("binary", "call", "choice", "unary", "path", "index")


def _short(program: Program, stage: Stage) -> Iterator[Place]:
    """A loss that is written down as a lambda: mse = lambda x, y: ((x - y) ** 2).mean(), self.mse = ..."""
    share = 0.85 / (1 + 0.2 * stage.hops)
    owner = program.index.class_of(stage.function)
    for call in stage.event.calls:
        held = program.index.resolve(stage.function, call.callee) if call.callee else None
        bound = (
            [(held.scope, one) for one in bindings(held.scope).get(held.name, ())] if isinstance(held, Variable) else []
        )
        own = call.callee.removeprefix(f"{stage.function.self_name}.")
        for cls in program.index.lineage(owner) if owner is not None and own != call.callee else ():
            bound += program.index.hierarchy.attribute_bindings(cls, own)
        for scope, one in bound:
            if one.value is not None and one.value.kind == "lambda":
                yield program.at(scope, one.value.line, "definition", share)


def _minimised(program: Program) -> Iterator[Place]:
    """What goes backward whatever it is called: the statement that makes it, or what a training hook gives back."""
    for function in program.training.steppers[:1]:
        for sign in program.signs[function]:
            name = sign.site.call.receiver if sign.role == "backward" else None
            found = bindings(function).get(name.text, ()) if name is not None and name.kind == "path" else ()
            yield from (
                program.at(function, one.value.line, "minimised", 0.8) for one in found if one.value is not None
            )
    for cls in program.training.hooked_classes:
        for step in (method for name, method in cls.methods.items() if name == "training_step"):
            returned = (event for event in step.events if event.kind == "return")
            yield from (program.at(step, event.line, "minimised", 0.8) for event in returned)


def _of_forward(program: Program) -> Iterator[Place]:
    """Where a framework takes what the model gives back: the loss that a network's own forward makes, from labels say."""
    for function, weight in program.functions() if program.training.framework is not None else ():
        owner = program.index.class_of(function) if function.name == "forward" else None
        if owner is None or not is_network(program.index, owner):
            continue
        for event in function.events:
            made = event.kind == "assign" and event.value is not None and event.value.kind in ("call", "attr", "binary")
            if made and any(_says(target) for target in event.targets):
                yield program.at(function, event.line, "minimised", 0.8 * weight**0.5)
            for call in event.calls:
                if call.keyword("labels") is not None and function.parameter("labels") is not None:  # to a model within
                    yield program.at(function, call.line, "minimised", 0.75 * weight**0.5)
                    yield program.at(function, function.line, "minimised", 0.7 * weight**0.5)


def _assigned(program: Program) -> Iterator[Place]:
    """What decides which target a prediction is compared with: a matcher, an assigner, get_targets()."""
    for cls in (*program.made_at, *(one.target for one in program.choices)):
        if isinstance(cls, Class) and _ASSIGNS.search(cls.name):
            yield program.at_target(cls, "assigns", 0.58)
    for called in program.reached_calls:
        owner = program.index.class_of(called.function)
        near = is_loss_name(called.function.name) or (owner is not None and is_loss_class(program.index, owner))
        for target in called.targets if near and _ASSIGNS_TARGETS.fullmatch(called.call.last) else ():
            if isinstance(target, Function):
                yield program.at(called.function, called.call.line, "assigns", 0.52 * called.weight**0.4)
                yield program.at(target, target.line, "assigns", 0.55 * called.weight**0.4)


_ASSIGNS = re.compile(r"(?:Matcher|Assigner)(?:\w{0,4})?$")
_ASSIGNS_TARGETS = re.compile(
    r"_?(?:match(?:_\w+)?|assign(?:_\w+)?|(?:get|prepare|encode|build|make|generate)_(?:\w+_)?(?:targets?|labels?)(?:_\w+)?)"
)


def _ignored(program: Program) -> Iterator[Place]:
    """Where labels are marked that a cross entropy leaves out: labels[mask] = IGNORE_INDEX, labels.masked_fill_(mask, -100)."""
    for function, weight in program.functions():
        if function.source.holds(_IGNORES):
            for event in function.events:
                given = (event.value, *event.targets) if event.kind in ("assign", "expression") else ()
                if any(_is_ignored(part) for one in given if one is not None for part in one.walk()):
                    yield program.at(function, event.line, "ignored", 0.5 * weight**0.4)


_IGNORES = re.compile(rb"IGNORE_(?:INDEX|ID|TOKEN|LABEL)|-100\b")


def _is_ignored(part: Expr) -> bool:
    if part.kind == "unary":
        return part.text == "-" and part.parts[0].text == "100"
    return part.kind == "path" and _NAMED_SO.fullmatch(part.last) is not None


_NAMED_SO = re.compile(r"(?:LABEL_)?IGNORE_(?:INDEX|ID|TOKEN|LABEL)(?:_ID)?")


_REWARDS = re.compile(r"reward_(?:funcs?|fns?|functions?)|compute_loss_func|loss_(?:fn|func)")


def _rewards(program: Program) -> Iterator[Place]:
    """What a trainer of a framework is handed to score by: GRPOTrainer(reward_funcs=get_rewards(args))."""
    for called in program.reached_calls:
        if not any(owned_by(program.index, one) for one in called.targets if not isinstance(one, Function)):
            continue
        for given in called.call.parts[1:]:
            if given.kind == "keyword" and _REWARDS.fullmatch(given.text):
                yield from _handed(program, called.function, given.parts[0])


def _targets(program: Program) -> Iterator[Place]:
    """What the loss is worked out from before the step: returns and advantages, what a diffusion adds noise to."""
    for called in program.reached_calls:
        if _MAKES_TARGETS.fullmatch(called.call.last):
            yield program.at(called.function, called.call.line, "targets", 0.55 * called.weight**0.4)
            for target in called.targets:
                if isinstance(target, Function):
                    yield program.at(target, target.line, "targets", 0.52 * called.weight**0.4)


_MAKES_TARGETS = re.compile(
    r"_?(?:get|compute|calc\w*|estimate)_(?:\w+_)?(?:returns?|advantages?|gae)(?:_and_\w+)?|add_noise|q_sample|corrupt_batch"
)


def _handed(program: Program, function: Function, given: Expr) -> Iterator[Place]:
    bound = bindings(function).get(given.text, ()) if given.kind == "path" else ()
    for value in [given, *(one.value for one in bound if one.value is not None)]:
        for part in value.parts if value.kind in ("list", "tuple") else (value,):
            named = part.parts[0] if part.kind == "call" else part
            for target in program.values.callables(function, named) if named.kind == "path" else ():
                if isinstance(target, Function):
                    yield program.at(function, part.line, "handed over", 0.9)
                    yield program.at_target(target, "definition", 0.85)


def _formulas(program: Program) -> Iterator[Place]:
    """Statements that bind or give back a loss inside of a function or a class of losses."""
    for function, weight in program.functions():
        owner = program.index.class_of(function)
        of_class = (
            owner is not None and is_loss_class(program.index, owner) and function.name in ("forward", "__call__")
        )
        if not of_class and not is_loss_name(function.name):
            continue
        for event in function.events:
            if event.kind == "assign" and any(_says(target) for target in event.targets):
                yield program.at(function, event.line, "formula", 0.56 * weight**0.5)
            elif event.kind == "return" and event.value is not None and event.value.kind not in ("path", "constant"):
                yield program.at(function, event.line, "formula", 0.5 * weight**0.5)


def _says(target: Expr) -> bool:
    """loss, self.loss, terms["mse"]."""
    if target.kind == "index" and target.parts[-1].kind == "string":
        return is_loss_name(target.parts[-1].text)
    return target.kind == "path" and is_loss_name(target.last)


_FUNCTION = re.compile(r"^(?:\w+_)?(?:loss_?(?:fn|func?|function)|criterion)$", re.I)


def _built(program: Program) -> Iterator[Place]:
    """Loss calls elsewhere in code that the program reaches: built in a constructor, computed in the model."""
    for function, weight in program.functions():
        for event in function.events:
            made = event.kind == "assign" and event.value is not None and event.value.kind == "call"
            if made and any(_FUNCTION.search(target.last) for target in event.targets) and is_unused(function, event):
                continue
            if made and any(_FUNCTION.search(target.last) for target in event.targets) and not _is_moved(event):
                yield program.at(function, event.line, "built", 0.75 * weight**0.5)
            for call in event.calls:
                name = program.full_name(function, call.callee) if call.callee else ""
                outside = name.startswith("torch.nn.") and is_loss_name(name.rpartition(".")[2])
                if outside:
                    yield program.at(function, call.line, "loss", 0.85 * weight**0.4)
                elif is_loss_name(_called(call)):
                    target = program.graph.targets(function, call)
                    if any(isinstance(one, Class | Function) for one in target):
                        yield program.at(function, call.line, "loss", 0.6 * weight**0.6)
                    elif not name.startswith(("builtins.", "logging.")):
                        yield program.at(function, call.line, "loss", 0.5 * weight**0.6)


def _is_moved(event: Event) -> bool:
    """loss_fn = loss_fn.to(device)"""
    receiver = event.value.receiver if event.value is not None else None
    return receiver is not None and any(target.text == receiver.text for target in event.targets)


def _called(call: Expr) -> str:
    """Of losses in a table the table's name: self.losses[kind](pred, target)."""
    callee = call.parts[0]
    return callee.parts[0].last if callee.kind == "index" else call.last


def _defined(program: Program) -> Iterator[Place]:
    for function, weight in program.functions():
        owner = program.index.class_of(function)
        if is_loss_name(function.name):
            yield program.at(function, function.line, "definition", 0.62 * weight**0.6)
        elif function.name in ("forward", "__call__") and owner is not None and is_loss_class(program.index, owner):
            yield program.at(function, owner.line, "definition", 0.66 * weight**0.5)
            yield program.at(function, function.line, "definition", 0.6 * weight**0.5)


def _chosen(program: Program) -> Iterator[Place]:
    for choice in program.choices:
        words = choice.key.lower()
        if (
            "loss" in words
            or "criterion" in words
            or _REWARDS.search(words)
            or is_loss_name(choice.value.rpartition(".")[2])
        ):
            yield Place(choice.path, choice.line, "configuration", 0.8)
            yield from program.chosen_at(choice)
            if choice.target is not None:
                yield program.at_target(choice.target, "definition", 0.97)
