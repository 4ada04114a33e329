"""Where code chooses the device that a run is on: device = torch.device("cuda"), os.environ["CUDA_VISIBLE_DEVICES"] = gpu."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from trainsleuth.facts import Class, Event, Expr, Function

from ...configuration import Truth
from ...program import Program
from ...programs.standing import off
from ...records import Place
from ..blocks.choosing import NEAR

MOST = 2
_HOLDS = re.compile(rb"cuda|CUDA|device|mps|\.to\(")
_DEVICE = re.compile(r"(?:\w+_)?device", re.I)
_NAMES = re.compile(r"(?:cuda|cpu|mps|xpu|npu|hpu)(?::.*)?")
_VISIBLE = "CUDA_VISIBLE_DEVICES"
_SETS = ("set_device", "select_device", "auto_select_device")
_OF_TENSOR = ("get_device",)


def chosen_devices(program: Program, truth: Truth) -> Iterator[Place]:
    """The statements that choose it in the function nearest to the entry that does; where none does, the first that
    brings what is trained to it.
    """
    near = [one for one, weight in program.functions() if weight > NEAR and one.source.holds(_HOLDS)]
    chosen = next(filter(None, (_choices(program, truth, one) for one in near)), [])
    yield from islice(chosen or _moves(program, truth, near), MOST if chosen else 1)


def _choices(program: Program, truth: Truth, function: Function) -> list[Place]:
    """Those that name only the processor where there are no others: they are what is left without a device."""
    found = [
        event
        for event in function.events
        if _chooses(program, function, event) and not off(program, truth, function, event.line)
    ]
    told = [one for one in found if not _is_processor(one)] or found
    return [program.at(function, one.line, "device", 1.0) for one in told]


def _is_processor(event: Event) -> bool:
    said = [part for part in event.value.walk() if part.kind in ("string", "format")] if event.value is not None else []
    return bool(said) and all(part.text == "cpu" for part in said)


def _chooses(program: Program, function: Function, event: Event) -> bool:
    if any(call.last in _SETS and _is_of_library(program, function, call) for call in event.calls):
        return True
    if event.kind not in ("assign", "return") or event.value is None:
        return False
    if any(_is_choice(program, function, one) and one.kind == "call" for one in _under_device(event.value)):
        return True
    names = [target.parts[-1].text if target.kind == "index" else target.last for target in event.targets]
    if event.value.kind == "string" and "device" not in names:  # data_device = "cuda", of something beside
        return _VISIBLE in names
    return _VISIBLE in names or (any(map(_DEVICE.fullmatch, names)) and _is_choice(program, function, event.value))


def _under_device(value: Expr) -> Iterator[Expr]:
    """What a table holds under the name: dict(device=torch.device(args.place)), {"device": ...}"""
    is_table = value.kind == "dict" or (value.kind == "call" and value.callee == "dict")
    for part in value.parts if is_table else ():
        if part.kind == "keyword" and part.text == "device":
            yield part.parts[0]
        elif part.kind == "pair" and part.parts[0].text == "device":
            yield part.parts[1]


def _is_of_library(program: Program, function: Function, call: Expr) -> bool:
    return not any(isinstance(one, Function | Class) for one in program.graph.targets(function, call))


def _is_choice(program: Program, function: Function, value: Expr) -> bool:
    """A device by its name, what torch makes of a name, or what a function gives that is asked for one."""
    if any(part.kind == "string" and _NAMES.fullmatch(part.text) for part in value.walk()):
        return True
    if value.kind == "format":
        return True
    return (
        value.kind == "call"
        and value.last not in _OF_TENSOR
        and (
            program.full_name(function, value.callee) == "torch.device"
            or any(isinstance(one, Function) for one in program.graph.targets(function, value))
        )
    )


def _moves(program: Program, truth: Truth, functions: list[Function]) -> Iterator[Place]:
    """model = model.to(device), learner.cuda(): networks, and what holds them."""
    for function in functions:
        for event in function.events:
            for call in event.calls if not event.block.loops else ():
                if _is_moved(program, function, call) and not off(program, truth, function, event.line):
                    yield program.at(function, event.line, "device", 1.0)


def _is_moved(program: Program, function: Function, call: Expr) -> bool:
    if call.receiver is None or not (
        call.last == "cuda" or (call.last == "to" and any(map(_is_device, call.parts[1:])))
    ):
        return False
    held = program.values.of(function, call.receiver)
    return any(isinstance(one, Class) or one.name.startswith("torch.nn.") for one in held)


def _is_device(given: Expr) -> bool:
    parts = (part for part in given.walk() if part.kind in ("path", "string", "keyword"))
    return any(_DEVICE.fullmatch(part.last or part.text) or _NAMES.fullmatch(part.text) for part in parts)
