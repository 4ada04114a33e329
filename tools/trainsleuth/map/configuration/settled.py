"""The configuration truth of a program, without what its own settings keep the code from doing."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from ..launch import Command
from ..program import Program
from ..statements import enclosing
from .literals import plain
from .records import Layer
from .truth import Gathered, Truth, gathered_for
from .untaken import untaken


def truth_of(program: Program, launch: Command | None = None) -> Truth:
    """The configuration truth of `program` when it is started by `launch`, or as the repository's own command does.

    Code that changes a key in a branch that the chosen settings do not take changes nothing, nor does code that gives
    it the value that it has. Without a recipe or a command nothing was chosen: every branch may be taken.
    """
    gathered = gathered_for(program, launch)
    if launch is None and program.recipe is None:
        return Truth(program, gathered)
    changes = {
        (name, layer)
        for name, layers in gathered.layers.items()
        for layer in layers
        if layer.how == "code" and not layer.certain
    }
    repeated = {(name, layer) for name, layer in changes if plain(layer.value) == plain(gathered.key(name).value)}
    idle = changes
    while True:  # none of them happens as long as none of them has happened: take back those that do not need another
        truth = Truth(program, _without(gathered, idle | repeated))
        taken = {(name, layer) for name, layer in idle if not _never(truth, layer)}
        if not taken:
            return truth
        idle = idle - taken


def _without(gathered: Gathered, left_out: Container[tuple[str, Layer]]) -> Gathered:
    left = {
        name: [layer for layer in layers if (name, layer) not in left_out] for name, layers in gathered.layers.items()
    }
    return replace(gathered, layers={name: layers for name, layers in left.items() if layers})


def _never(truth: Truth, layer: Layer) -> bool:
    file = truth.program.index.files.get(layer.path)
    return file is not None and bool(untaken(truth, enclosing(file, layer.line), layer.line))
