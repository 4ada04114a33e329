"""How training examples are changed where code says so: Compose([...]), steps += [Flip(p)], steps.append(Crop(size))."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from trainsleuth.facts import Event, Expr, Function, written

from ...configuration import Truth
from ...drawing.wording import clean
from ...loop.networks import is_network
from ...program import Program
from ...programs.standing import off
from .tails import Tails
from .under import tests_above

LEAST = 2  # steps of a chain
STEP_WIDTH = 64
WHEN_WIDTH = 72
_HOLDS = re.compile(rb"Compose\(|\.append\(|\.extend\(|\+= ?[\[(]")
_SAYS = re.compile(r"transform|augment|(?:^|_)augs?(?:_|$)|preproc|(?:^|_)tf(?:s|l|ms?)?(?:_|$)", re.I)
_ELSEWHERE = re.compile(r"(?:^|[_.])(?:val|valid\w*|eval\w*|test\w*|infer\w*|predict\w*|no_?aug)(?:[_.]|$)", re.I)
_TRAINS = re.compile(r"(?:^|_)train(?:ing)?(?:_|$)", re.I)


class Step(NamedTuple):
    """What is put into a list, and the statement that does it."""

    event: Event
    value: Expr


def code_transforms(program: Program, truth: Truth, tails: Tails) -> Iterator[tuple[str, dict[str, Any]]]:
    """One line with the steps of the longest chain for training that the settings leave, in their order."""
    best = max(_chains(program, truth), key=lambda one: _worth(*one), default=None)
    if best is None:
        return
    function, steps = best
    said = []
    for step in steps:
        when = tests_above(truth, function, step.event)
        said.append(f":{step.value.line} {written(step.value, STEP_WIDTH)}" + (f" if {clean(when, WHEN_WIDTH)}" if when else ""))  # fmt: skip
    places = [{"path": function.path, "line": step.value.line} for step in steps]
    yield f"in code {tails.of(function.path)}{' · '.join(said)}", {"transforms": places, "keys": []}


def _worth(function: Function, steps: list[Step]) -> tuple[bool, int]:
    return _TRAINS.search(function.name) is not None, len(steps)


def _chains(program: Program, truth: Truth) -> Iterator[tuple[Function, list[Step]]]:
    for function in program.entry.reach.distance:
        if _ELSEWHERE.search(function.qualname) or not function.source.holds(_HOLDS):
            continue
        steps = [
            Step(event, value)
            for event in function.events
            for value in _added(function, event)
            if value.kind == "call" and not _ELSEWHERE.search(value.callee)
        ]
        if len(steps) >= LEAST and _makes_layers(program, function):
            steps = [one for one in steps if any(call.last == "Compose" for call in one.event.calls)]
        running = [step for step in steps if not off(program, truth, function, step.event.line)]
        if len(running) >= LEAST:
            yield function, running


def _makes_layers(program: Program, function: Function) -> bool:
    """It makes what is trained: the transforms of a normalizing flow are its layers."""
    owner = program.index.class_of(function)
    if function.name != "__init__" or owner is None:
        return False
    if is_network(program.index, owner):
        return True
    asked = ((site.function, site.call.receiver) for site, _ in program.calls("parameters"))
    return any(owner in program.values.of(asks, held) for asks, held in asked if held is not None)


def _added(function: Function, event: Event) -> Iterator[Expr]:
    """What a statement puts into a list of transforms."""
    if any(_ELSEWHERE.search(target.text) for target in event.targets):
        return
    for call in event.calls:
        if call.last == "Compose" and call.arguments and call.arguments[0].kind in ("list", "tuple"):
            yield from call.arguments[0].parts
        elif call.last in ("append", "extend") and call.arguments and call.receiver is not None:
            if _is_list(function, call.receiver.last):
                given = call.arguments[0]
                yield from given.parts if given.kind in ("list", "tuple") else (given,)
    if event.kind in ("assign", "augment") and event.value is not None and event.value.kind in ("list", "tuple"):
        if any(_is_list(function, target.last) for target in event.targets):
            yield from event.value.parts


def _is_list(function: Function, name: str) -> bool:
    """Called after transforms, as any list is in a function that is."""
    return _SAYS.search(name) is not None or _SAYS.search(function.name) is not None
