"""Passes over data that was held out, by functions that nothing else says evaluate: loss = run_epoch(net, val_loader)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Expr, Function

from ..loop.quiet import is_quiet
from ..program import Program

_HELD_OUT = re.compile(
    r"^_?(?:val|valid|validation|eval|evaluation|dev|test)_?(?:data\w*|loader|set|dl|generator|iter(?:ator)?s?)$", re.I
)
_SPLIT = re.compile(r"val|valid|validate|validation|eval|evaluate|evaluation|dev|test", re.I)  # run_epoch("test")
_TRAINED = re.compile(r"(?:^|_)(?:tr|train|training)(?:_|$)", re.I)


def passes(program: Program, function: Function) -> Iterator[int]:
    """Lines where a function with a loop, which trains elsewhere or runs without gradients, is given such data and none
    to train on."""
    for event in function.events:
        quiet = is_quiet(event)
        for call in event.calls:
            if _is_given_held_out(call) and _goes_over(program, function, call, quiet):
                yield call.line


def _is_given_held_out(call: Expr) -> bool:
    given = [one.parts[0] if one.kind == "keyword" else one for one in call.parts[1:]]
    names = [one.last for one in given if one.kind == "path"]
    words = [one.text for one in given if one.kind == "string"]
    is_held_out = any(map(_HELD_OUT.search, names)) or any(map(_SPLIT.fullmatch, words))
    return is_held_out and not any(map(_TRAINED.search, (*names, *words)))


def _goes_over(program: Program, function: Function, call: Expr, quiet: bool) -> bool:
    targets = program.graph.targets(function, call)
    found = [one for one in targets if isinstance(one, Function) and one.loops]
    return bool(found) and len(found) == len(targets) and (quiet or any(_trains(program, one) for one in found))


def _trains(program: Program, function: Function) -> bool:
    """It goes backward, or calls what does."""
    step = program.training.step
    above = program.training.ways.calls_down_to(step) if step is not None else ()
    signs = program.signs.get(function, ())
    return any(sign.role == "backward" for sign in signs) or any(caller is function for caller, _, _ in above)
