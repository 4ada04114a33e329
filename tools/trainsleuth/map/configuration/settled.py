"""The configuration truth of a program, without what its own settings keep the code from doing."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace

from trainsleuth.facts import Function

from ..drawing.statements import enclosing
from ..launching.launch import Command
from ..program import Program
from .forms.literals import plain
from .gathered import Gathered, gathered_for
from .records import Key, Layer
from .truth import Truth
from .use.untaken import untaken
from .values.evaluated import assigned
from .values.interpolated import interpolated


def truth_of(program: Program, launch: Command | None = None) -> Truth:
    """The configuration truth of `program` when it is started by `launch`, or as the repository's own command does.

    Code that changes a key in a branch that the chosen settings do not take changes nothing, nor does code that gives
    it the value that it has. Without a recipe or a command nothing was chosen: every branch may be taken.
    """
    gathered = interpolated(program, gathered_for(program, launch))
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
        left = _without(gathered, idle | repeated)
        truth = Truth(program, left)
        taken = {(name, layer) for name, layer in idle if not _never(truth, layer)}
        if not taken:
            return _worked_out(program, left)
        idle = idle - taken


def _worked_out(program: Program, gathered: Gathered) -> Truth:
    """With what code makes of a key that other settings decide, and without what they keep it from making."""
    truth = Truth(program, gathered)
    for _ in range(MAX_ROUNDS):
        settled = {
            name: [one for layer in layers for one in _settled(truth, name, layers, layer)]
            for name, layers in gathered.layers.items()
        }
        if settled == gathered.layers:
            break
        gathered = replace(gathered, layers=settled)
        truth = Truth(program, gathered)
    return truth


MAX_ROUNDS = 4  # a key that decides another may be decided by a third


def _settled(truth: Truth, name: str, layers: Sequence[Layer], layer: Layer) -> Iterator[Layer]:
    """The layer with its value when that is known, nothing when it never happens, else as it is."""
    file = truth.program.index.files.get(layer.path) if layer.how == "code" and not layer.certain else None
    function = enclosing(file, layer.line) if file is not None else None
    position = (
        next((at for at, one in enumerate(function.events) if one.line == layer.line), None) if function else None
    )
    if function is None or position is None:
        yield layer
        return
    branches = function.events[position].block.branches
    inside = {branch.id for branch in branches}
    first = min((e.line for e in function.events if any(b.id in inside for b in e.block.branches)), default=layer.line)
    earlier = tuple(one for one in layers if one.how != "code" or one.path != layer.path or one.line < first)
    runs, value = assigned(truth, function, position, Key(name, earlier, (), "unknown"))
    if runs is False or (not runs and branches and _is_nothing(truth, function, position)):
        return
    if value is not None:
        yield layer._replace(value=value, certain=True, when="")
    else:
        yield layer._replace(when="") if runs else layer


_NOTHING = ("None", "null")


def _is_nothing(truth: Truth, function: Function, position: int) -> bool:
    """An option that nobody gives, handed on under a test: if given("optim"): config.OPTIM = args.optim."""
    value = function.events[position].value
    key = truth.find(value.text) if value is not None and value.kind == "path" and "." in value.text else None
    return key is not None and key.value in _NOTHING and all(layer.how == "default" for layer in key.layers)


def _without(gathered: Gathered, left_out: Container[tuple[str, Layer]]) -> Gathered:
    left = {
        name: [layer for layer in layers if (name, layer) not in left_out] for name, layers in gathered.layers.items()
    }
    return replace(gathered, layers={name: layers for name, layers in left.items() if layers})


def _never(truth: Truth, layer: Layer) -> bool:
    file = truth.program.index.files.get(layer.path)
    return file is not None and bool(untaken(truth, enclosing(file, layer.line), layer.line))
