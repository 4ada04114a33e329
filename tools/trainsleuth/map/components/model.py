"""The networks: where they are built, their classes and forward methods."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Class, Event, Expr, External, Function

from ..networks import is_loss_class, is_network
from ..program import Program
from ..records import Place

_BUILDER = re.compile(
    r"^(?:get|build|create|make|load|setup|init|prepare|from)_?\w*(?:model|net|network|lm|backbone|unet|pretrained)\w*$",
    re.I,
)
_LIBRARIES = (
    "torchvision.models",
    "timm.",
    "transformers.",
    "segmentation_models_pytorch",
    "diffusers.",
    "open_clip",
    "clip.",
)
_HELD_AS = re.compile(
    r"model|net|generator|discriminator|encoder|decoder|policy|actor|critic|agent|unet|vae|backbone|qf", re.I
)


def places(program: Program) -> Iterator[Place]:
    built: dict[Class, float] = {}
    for function, weight in program.functions():
        inside = program.index.class_of(function)
        nested = inside is not None and is_network(program.index, inside)
        for event in function.events:
            for call in event.calls:
                yield from _built(program, function, event, call, weight, nested, built)
        if _BUILDER.search(function.name) and not nested:
            yield program.at(function, function.line, "builder", 0.7 * weight**0.4)
    for cls, score in built.items():
        yield from _defined(program, cls, score)
    yield from _chosen(program)


def _built(
    program: Program,
    function: Function,
    event: Event,
    call: Expr,
    weight: float,
    nested: bool,
    built: dict[Class, float],
) -> Iterator[Place]:
    """A call that makes a network. One network inside another (`nested`) counts less."""
    base = (0.35 if nested else 1.0) * weight**0.5
    for target in program.values.callables(function, call.parts[0]):
        if isinstance(target, Class) and is_network(program.index, target) and not is_loss_class(program.index, target):
            built[target] = max(built.get(target, 0.0), base)
            yield program.at(function, call.line, "built", 0.95 * base)
        elif (
            isinstance(target, External)
            and target.name.startswith(_LIBRARIES)
            and (call.last[:1].isupper() or _BUILDER.search(call.last))
        ):
            if not re.search(
                r"Tokenizer|Processor|Config|Args|Argument|Trainer|Scheduler|transforms|set_seed", target.name
            ):
                yield program.at(function, call.line, "built", 0.95 * base)
        elif isinstance(target, Function) and not nested:
            if _BUILDER.search(call.last) and target.name != "__init__":
                yield program.at(function, call.line, "builder call", 0.85 * base)
    if not nested and call.last == "from_pretrained" and _assigned_to_network(event):
        yield program.at(function, call.line, "built", 0.9 * base)
    elif (
        not nested
        and call.last in ("instantiate", "init_obj", "get_model", "create_model", "build_model")
        and _assigned_to_network(event)
    ) or (call.parts[0].kind == "index" and "models" in call.parts[0].parts[0].text):
        yield program.at(function, call.line, "built", 0.95 * base)


def _assigned_to_network(event: Event) -> bool:
    return any(target.kind == "path" and _HELD_AS.search(target.text) for target in event.targets)


def _defined(program: Program, cls: Class, score: float) -> Iterator[Place]:
    for depth, one in enumerate(program.index.lineage(cls)[:3]):
        share = score / (1 + 0.5 * depth)
        yield program.at(one.body, one.line, "class", 0.9 * share)
        if (forward := one.methods.get("forward")) is not None:
            yield program.at(forward, forward.line, "forward", 0.86 * share)


def _chosen(program: Program) -> Iterator[Place]:
    for choice in program.choices:
        target = choice.target
        if isinstance(target, Class) and is_network(program.index, target) and not is_loss_class(program.index, target):
            yield Place(choice.path, choice.line, "configuration", 0.8)
            yield from _defined(program, target, 1.0)
