"""The configuration truth of a program, without what its own settings keep the code from doing."""

from __future__ import annotations

from dataclasses import replace

from ..launch import Command
from ..program import Program
from ..statements import enclosing
from .records import Layer
from .truth import Gathered, Truth, gathered_for
from .untaken import plain, untaken


def truth_of(program: Program, launch: Command | None = None) -> Truth:
    """The configuration truth of `program` when it is started by `launch`, or as the repository's own command does.

    Code that changes a key in a branch that the chosen settings do not take changes nothing, nor does code that gives
    it the value that it has. Without a recipe or a command nothing was chosen: every branch may be taken.
    """
    gathered = gathered_for(program, launch)
    truth = Truth(program, gathered)
    if launch is None and program.recipe is None:
        return truth
    left = {
        name: [one for one in layers if not (_never(truth, one) or _repeats(gathered, name, one))]
        for name, layers in gathered.layers.items()
    }
    kept: Gathered = replace(gathered, layers={name: layers for name, layers in left.items() if layers})
    return Truth(program, kept)


def _never(truth: Truth, layer: Layer) -> bool:
    file = truth.program.index.files.get(layer.path) if layer.how == "code" and not layer.certain else None
    return file is not None and bool(untaken(truth, enclosing(file, layer.line), layer.line))


def _repeats(gathered: Gathered, name: str, layer: Layer) -> bool:
    return layer.how == "code" and not layer.certain and plain(layer.value) == plain(gathered.key(name).value)
