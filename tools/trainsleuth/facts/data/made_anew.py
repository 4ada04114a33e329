"""Samplers and loaders that a loop makes anew in each of its rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..naming.sites import Site
from ..reading.scopes import bindings
from ..records import Function
from ..tracing.making import mentions
from ..tracing.things import Spot
from ..training.epoch_loops import says_epoch
from .datasets import dataset_given

if TYPE_CHECKING:
    from ..index import Index

MAX_CALLERS = 3  # how far out the loop is looked for


def is_made_anew(index: Index, function: Function, position: int, depth: int = MAX_CALLERS) -> bool:
    """Some loop, here or around a call of it, comes to the place in each of its rounds."""
    if function.events[position].block.loops:
        return True
    return depth > 0 and any(
        is_made_anew(index, caller.spot.function, caller.spot.position, depth - 1) for caller in index.callers(function)
    )


def is_alike_each_epoch(index: Index, site: Site) -> bool:
    """Made anew for each epoch of a training, of a dataset that is older than the loop and is left as it is, with the
    seed of always: it begins at epoch 0.
    """
    dataset, loops = dataset_given(site.call), site.event.block.loops
    seed = site.call.argument(4, "seed")
    if not loops or dataset is None or dataset.kind != "path" or (seed is not None and seed.kind != "number"):
        return False
    name, function = dataset.text.partition(".")[0], site.function
    if not any(says_epoch(function.loops[place]) for place in loops):
        return False
    if index.values.is_without_grad(Spot(function, site.position)):
        return False
    inside = (event for event in function.events if loops[0] in event.block.loops)
    if any(call.callee.startswith(f"{name}.") for event in inside for call in event.calls):
        return False
    if any(mentions(function.loops[place].target, [name]) for place in loops):
        return False
    made = (function.events[one.position] for one in bindings(function).get(name, ()))
    return all(loops[0] not in event.block.loops for event in made)
