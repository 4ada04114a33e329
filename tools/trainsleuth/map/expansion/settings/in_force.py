"""Which statements of a function may have given a name the value that it has, as far as the settings decide."""

from __future__ import annotations

import re

from trainsleuth.facts import Expr, Function, bindings
from trainsleuth.facts.reading.scopes import Binding

from ...configuration import Truth
from ...configuration.use.untaken import is_taken, untaken

_ADDS = ("augment", "append", "extend")
MOST = 8  # statements that are looked through
_KEPT = re.compile(r"ckpt|checkpoint|snapshot|pretrain|resum|state_?dict", re.I)


def in_force(truth: Truth, function: Function, name: str) -> list[Binding]:
    """Those that may be the last: not in a branch that is not taken, nor before one that surely is."""
    every = bindings(function).get(name, ())
    if (len(every) < 2 and function.parameter(name) is None) or len(every) > MOST:
        return list(every)
    left: list[Binding] = []
    for one in every:
        event = function.events[one.position]
        if untaken(truth, function, event.line):
            continue
        if _surely(truth, function, one) and not (one.kind in _ADDS or event.block.loops):
            left.clear()
        left.append(one)
    return left


def _surely(truth: Truth, function: Function, binding: Binding) -> bool:
    """All branches that it stands in are taken."""
    branches = function.events[binding.position].block.branches
    return all(one.kind == "if" and is_taken(truth, function, one) for one in branches)


def is_loaded(function: Function, name: str) -> bool:
    """It holds what a checkpoint held: state = torch.load(checkpoint_path)."""
    made = (one.value for one in bindings(function).get(name, ()))
    return any(value is not None and value.kind == "call" and _loads(value) for value in made)


def _loads(call: Expr) -> bool:
    if call.callee in ("torch.load", "dcp.load"):
        return True
    said = (part.text for part in call.walk() if part.kind in ("path", "attr"))
    return "load" in call.last and any(_KEPT.search(one) for one in said)
