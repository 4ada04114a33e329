"""Loops over the phases of an epoch, of which one trains and another evaluates: for phase in ["train", "valid"]."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Expr, Function, Loop, bindings

from ..program import Program

_TRAINS = re.compile(r"tr|train|training", re.I)
_HELD_OUT = re.compile(r"va|val|valid|validate|validation|eval|evaluate|evaluation|dev|test", re.I)
_SWITCHES = ("train", "eval", "set_grad_enabled")


def phase_loops(program: Program) -> Iterator[tuple[Function, Loop]]:
    """Those in which the program goes backward, itself or in what they call."""
    for function, loop in dict.fromkeys(_loops_that_train(program)):
        if loop.source is not None and _names_both(function, loop.source):
            yield function, loop


def switched_in(function: Function, loop: Loop) -> Iterator[int]:
    """Lines where the phase of a round decides how the network runs: model.train(phase == "train")."""
    phases = {part.text for part in loop.target.walk() if part.kind == "path"} if loop.target is not None else set()
    for event in function.events:
        for call in event.calls if loop.id in event.block.loops else ():
            given = (part for one in call.parts[1:] for part in one.walk())
            if call.last in _SWITCHES and any(part.kind == "path" and part.text in phases for part in given):
                yield call.line


def _loops_that_train(program: Program) -> Iterator[tuple[Function, Loop]]:
    for step in program.training.steppers[:1]:
        for sign in program.signs[step]:
            if sign.role == "backward":
                yield from ((step, step.loops[number]) for number in sign.site.event.block.loops)
        yield from ((caller, loop) for caller, loop, _ in program.training.ways.loops_down_to(step))


def _names_both(function: Function, source: Expr) -> bool:
    """One list or dictionary that it goes over has the names of both."""
    return any(_is_of_both(part) for made in _made(function, source) for part in made.walk())


def _is_of_both(expr: Expr) -> bool:
    if expr.kind not in ("list", "tuple", "dict"):
        return False
    first = [one.parts[0] if one.kind in ("pair", "tuple", "list") and one.parts else one for one in expr.parts]
    said = [one.text for one in first if one.kind == "string"]
    return any(map(_TRAINS.fullmatch, said)) and any(map(_HELD_OUT.fullmatch, said))


def _made(function: Function, source: Expr) -> Iterator[Expr]:
    """What it goes over as it is written, and what the names in it are bound to or are by default."""
    yield source
    for name in (part.text for part in source.walk() if part.kind == "path"):
        yield from (one.value for one in bindings(function).get(name, ()) if one.value is not None)
        parameter = function.parameter(name)
        if parameter is not None and parameter.default is not None:
            yield parameter.default
