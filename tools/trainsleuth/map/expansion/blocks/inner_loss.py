"""Where a loss is really computed, when a call that says loss only hands on: self.head.loss(feats, samples)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainsleuth.facts import Event, Expr, Function, bindings, written

from ...drawing.statements import conditions
from ...loop.networks import calls_loss
from ...program import Program

MAX_HOPS = 3
MOST = 2  # functions of one call
MAX_BOUND = 3  # statements of one name


class InnerLoss(NamedTuple):
    """A statement of a loss `hops` calls further in; `runs` is the project's function that it may hand on to."""

    function: Function
    event: Event
    call: Expr
    hops: int
    runs: tuple[Function, ...]


def says_loss(program: Program, function: Function, call: Expr) -> bool:
    """By its name, also a method that is called just loss, or by what it holds."""
    return _LOSS.search(call.last) is not None or calls_loss(program.graph.values, function, call)


_LOSS = re.compile(
    r"^(?:get_|_get_|compute_|_compute_|calc_)?loss(?:es)?(?:_by_feat|_fn)?$|loss_(?:module|fn|func)|criterion", re.I
)


def runs(program: Program, function: Function, call: Expr) -> tuple[Function, ...]:
    """The functions of the project that a call of a loss may run, those of classes below included."""
    found = dict.fromkeys(one for one in program.graph.targets(function, call) if isinstance(one, Function))
    for edge in program.graph.edges(function):
        here = edge.position >= 0 and any(one is call for one in function.events[edge.position].calls)
        if here and edge.target.name == call.last:
            found[edge.target] = None
    return tuple(one for one in found if not _is_open(one))[:MOST]


def _is_open(function: Function) -> bool:
    """It only says that a class below has to define it."""
    raises = (event.value for event in function.events[:3] if event.kind == "raise" and event.value is not None)
    return any("NotImplementedError" in written(one) for one in raises)


def inner_losses(program: Program, function: Function, hops: int = 1) -> Iterator[InnerLoss]:
    """Calls of losses in `function`, and in what they run."""
    for event in function.events if hops <= MAX_HOPS else ():
        for call in event.calls:
            if not says_loss(program, function, call):
                continue
            inner = runs(program, function, call)
            yield InnerLoss(function, event, call, hops, inner)
            for one in inner:
                if one is not function:
                    yield from inner_losses(program, one, hops + 1)


def made_of(function: Function, call: Expr) -> str:
    """The statements that give the arguments of a call their values: "target = stack(...) :88 when soft"."""
    said: dict[str, None] = {}
    given = [*call.arguments, *(part.parts[0] for part in call.parts[1:] if part.kind == "keyword")]
    for name in dict.fromkeys(filter(None, map(_name, given))):
        for one in bindings(function).get(name, ())[:MAX_BOUND]:
            event = function.events[one.position]
            if one.kind == "assign" and one.value is not None and event.line < call.line:
                when = conditions(event)
                sign = "from" if one.items else "="
                said[f"{name} {sign} {written(one.value, 90)} :{event.line}{f' when {when}' if when else ''}"] = None
    return "; ".join(said)


def _name(given: Expr) -> str:
    """The plain name that an argument is, or is a part or a change of: outputs[0], pred.float()."""
    while given.kind in ("index", "attr", "call") and given.parts:
        given = given.parts[0]
    return given.text.partition(".")[0] if given.kind == "path" else ""


def made_for(function: Function, event: Event) -> str:
    """The same for the calls of a loss in a statement."""
    calls = (call for call in event.calls if re.search(r"loss|criterion|entropy|nll", call.callee or call.last, re.I))
    return "; ".join(filter(None, dict.fromkeys(made_of(function, call) for call in calls)))
