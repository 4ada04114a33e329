"""What keeps the places of a feature from running, said by the test that is its own."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from trainsleuth.facts import Function

from ..configuration import Truth
from ..configuration.use.untaken import untaken_by
from ..drawing.statements import enclosing, event_at
from ..program import Program
from ..programs.standing import off, off_at
from ..records import Part, Place
from .set_later import set_later
from .switches import switch_of

IN_PART = "in part:"  # begins what is said of a feature of which something is off
SAID = ("off", "set", IN_PART)  # begin what settings say of a feature that no code shows
_LOADS_WEIGHTS = re.compile(r"load_state_dict|load_from_checkpoint|load_weights")
_RESUMES = re.compile(
    r"resum|restor|continue", re.I
)  # of a setting: the weights beside it are those of another training
_OF_TRAINING = re.compile(r"opt|sched|scaler", re.I)


def idle_places(program: Program, truth: Truth, places: Iterable[Place]) -> dict[Place, str]:
    """Those that a setting keeps from running, with that setting; not where the training step waits for the same one."""
    step = program.training.step
    waits = off(program, truth, step, step.line) if step is not None else ""
    found = {place: off_at(program, truth, place) for place in places}
    return {place: why for place, why in found.items() if why and why != waits}


def in_single_steps(program: Program, truth: Truth, places: Iterable[Place]) -> dict[Place, str]:
    """Of accumulation: those that read how many steps it takes, where that is one."""
    switch = switch_of(truth, "accumulation")
    if switch is None or switch.on or set_later(program, switch):
        return {}
    name = switch.key.name.rpartition(".")[2]
    return {place: f"{switch}" for place in places if name in _read_at(program, place)}


def _read_at(program: Program, place: Place) -> frozenset[str]:
    """The last names that the statement of a place reads."""
    function = around(program, place)
    found = event_at(function, place.line) if function is not None else None
    value = found[1].value if found is not None else None
    read = value.walk() if value is not None else ()
    return frozenset(part.last if part.kind == "path" else part.text for part in read)


def reason(program: Program, truth: Truth, idle: Mapping[Place, str]) -> str:
    """Of the likeliest place the innermost test that does not hold; the outer ones may be about something else."""
    for place in sorted(idle, key=lambda one: -one.score):
        function = around(program, place)
        found = event_at(function, place.line) if function is not None else None
        if function is not None and found is not None:
            if said := untaken_by(truth, function, reversed(found[1].block.branches)):
                return said
    return next(iter(idle.values()))


def loads_without_state(program: Program, truth: Truth, idle: Mapping[Place, str]) -> Part | None:
    """What is loaded is loaded without the state of the optimizer: such a load is off, that of the weights beside it runs."""
    for place in idle if not any(_RESUMES.search(why) for why in idle.values()) else ():
        function = around(program, place)
        if function is not None and (line := _loads(program, truth, function, {one.line for one in idle})):
            why = f"{IN_PART} weights at {place.path}:{line}, no state of the optimizer: {idle[place]}"
            return Part("unresolved", why)
    return None


def _loads(program: Program, truth: Truth, function: Function, without: Collection[int]) -> int:
    """The line of the function that loads weights and is not off, 0 for none."""
    for event in function.events:
        for call in event.calls:
            held = call.receiver.text if call.receiver is not None else ""
            weights = _LOADS_WEIGHTS.fullmatch(call.last) is not None and _OF_TRAINING.search(held) is None
            if weights and call.line not in without and not off(program, truth, function, call.line):
                return call.line
    return 0


def around(program: Program, place: Place) -> Function | None:
    """The function that a place stands in; None where it is no code of a file."""
    file = program.index.files.get(place.path)
    return enclosing(file, place.line) if file is not None and place.cell is None else None
