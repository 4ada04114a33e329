"""Which parameters weight decay leaves out, where code decides it by their shape or their name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from trainsleuth.facts import Event, Expr, Function, written

from ...configuration import Truth
from ...drawing.statements import statement
from ...parts import source_lines
from ...program import Program
from ...programs.never_called import is_never_called
from ...programs.standing import off
from ..blocks.choosing import NEAR
from .tails import Tails

MOST = 2
WIDTH = 120
GROUP_WIDTH = 150
_HOLDS = re.compile(rb"no_(?:weight_)?decay|weight_decay|no_wd")
_GROUPS = re.compile(r"(?:^|_)(?:no_(?:weight_)?decay|nodecay|no_wd)\w*$", re.I)
_NAMES = re.compile(r"bias$|norm|^bn|embed", re.I)
_SHAPES = re.compile(r"(?:^|\.)(?:ndim|shape|dim|ndimension)$")


def without_decay(program: Program, truth: Truth, tails: Tails) -> Iterator[tuple[str, dict[str, Any]]]:
    """The statements nearest to the frame of the program that run."""
    found = (
        (function, event)
        for function, weight in program.functions()
        if weight > NEAR and function.source.holds(_HOLDS) and _is_on_decay(function)
        for event in function.events
        if _decides(function, event) and not _is_on_rate(function, event) and not _is_decayed(function, event)
        if _runs(program, truth, function, event)
    )
    told: list[tuple[Function, Event | Expr]] = [*islice(found, MOST)] or [*islice(_groups(program, truth), MOST)]
    for function, said in told:
        lines = source_lines(program.index, function.path)
        text = statement(lines, said.line, width=WIDTH) if isinstance(said, Event) else written(said, GROUP_WIDTH)
        item = {"path": function.path, "line": said.line, "text": text, "keys": []}
        yield f"without decay: {tails.of(function.path)}:{said.line} {text} · in {function.name}()", item


def _runs(program: Program, truth: Truth, function: Function, event: Event) -> bool:
    return not off(program, truth, function, event.line) and not is_never_called(program, function)


def _groups(program: Program, truth: Truth) -> Iterator[tuple[Function, Expr]]:
    """What a group without decay holds: {"params": [one for name, one in named if match(name)], "weight_decay": 0}."""
    for function, weight in program.functions():
        if weight > NEAR and function.source.holds(_HOLDS):
            for event in function.events:
                for held in map(_params, event.value.walk() if event.value is not None else ()):
                    if held is not None and _runs(program, truth, function, event):
                        yield function, held


def _params(expr: Expr) -> Expr | None:
    decay, held = _group(expr)
    is_none = decay is not None and decay.text in _NONE
    return held if is_none and held is not None and held.kind != "path" else None


def _group(expr: Expr) -> tuple[Expr | None, Expr | None]:
    """The decay and the parameters of a group that is written out."""
    pairs = [part.parts for part in expr.parts if part.kind == "pair"] if expr.kind == "dict" else []
    named = {name.text: value for name, value in pairs if name.kind == "string"}
    return named.get("weight_decay"), named.get("params")


def _is_decayed(function: Function, event: Event) -> bool:
    """What it names is called so, or is a group with a decay of its own: {"params": others, "weight_decay": 1e-4}."""
    names = {target.text for target in event.targets if event.kind == "assign"}
    if any(_DECAYED.fullmatch(name.rpartition(".")[2]) for name in names):
        return True
    values = (one.value for one in function.events if names and one.value is not None)
    groups = (_group(part) for value in values for part in value.walk())
    return any(
        held is not None and held.text in names and decay is not None and decay.text not in _NONE
        for decay, held in groups
    )


_NONE = ("0", "0.0", "0.")
_DECAYED = re.compile(r"_?(?:with_)?(?:weight_)?decay(?:ed|able)?(?:_\w+)?")


def _is_on_decay(function: Function) -> bool:
    """It makes groups with and without decay."""
    said = (part for event in function.events for expr in (*event.targets, event.value) if expr for part in expr.walk())
    return any(
        (part.kind in ("path", "keyword") and (_GROUPS.search(part.text) or part.text == "weight_decay"))
        or (part.kind == "string" and part.text == "weight_decay")
        for part in said
    )


def _decides(function: Function, event: Event) -> bool:
    """if param.ndim <= 1 or name.endswith(".bias"), no_decay = ["bias", "LayerNorm.weight"]"""
    if event.value is None or event.kind not in ("if", "assign"):
        return False
    if event.kind == "assign" and event.value.kind in ("list", "tuple", "set"):
        named = any(_GROUPS.search(target.last) for target in event.targets)
        return named and any(part.kind == "string" for part in event.value.parts)
    return any(_asks(function, event.value, part) for part in event.value.walk())


_RATE = re.compile(r"(?:^|[._])lr(?:$|_)|learning_rate")
_DECAY = re.compile(r"decay|(?:^|[._])wd(?:$|_)", re.I)


def _is_on_rate(function: Function, test: Event) -> bool:
    """What runs when the test holds says a learning rate and no decay: a patch embedding with a rate of its own."""
    if test.kind != "if":
        return False
    inside = [one for one in function.events if any(test.value in branch.tests for branch in one.block.branches)]
    exprs = (expr for one in inside for expr in (*one.targets, one.value) if expr is not None)
    said = [part.text for expr in exprs for part in expr.walk() if part.text]
    return any(map(_RATE.search, said)) and not any(map(_DECAY.search, said))


def _asks(function: Function, whole: Expr, part: Expr) -> bool:
    """For the name of a parameter, or for the shape of what is one of several."""
    if part.kind == "call" and part.last == "endswith":
        return any(one.kind == "string" and _NAMES.search(one.text) for one in part.arguments)
    if part.kind != "compare" or len(part.parts) != 2:
        return False
    left, right = part.parts
    if part.text in ("in", "not in"):
        return left.kind == "string" and _NAMES.search(left.text) is not None
    if right.kind != "number" or right.text not in ("1", "2"):
        return False
    measured = [one.text.partition(".")[0] for one in left.walk() if one.kind == "path" and _SHAPES.search(one.text)]
    return any(_is_of_several(function, whole, name) for name in measured)


def _is_of_several(function: Function, whole: Expr, name: str) -> bool:
    """A name that a loop or a comprehension binds, or that the function is given."""
    clauses = (part.parts[0] for part in whole.walk() if part.kind == "for")
    targets = (loop.target for loop in function.loops if loop.target is not None)
    given = (part.text.split(",") for part in whole.walk() if part.kind == "lambda")
    return (
        function.parameter(name) is not None
        or any(name in names for names in given)
        or any(part.text == name for target in (*clauses, *targets) for part in target.walk())
    )
