"""Loops over a loader that unpack each batch to another number of parts than an example has: a ValueError at the first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..data.datasets import datasets
from ..data.loaders import Loader, is_spread
from ..records import Class, Event, Expr
from ..tracing.callers import Target
from ..tracing.making import called
from ..tracing.things import Instance, Spot, Thing
from .fitting import LOADER, lengths_given_back

if TYPE_CHECKING:
    from ..index import Index

_PLAIN = frozenset(("torch.utils.data.Dataset", "torch.utils.data.dataset.Dataset", "object", "builtins.object"))
_SHOWING = ("tqdm", "track")


def misfit_of_batch(index: Index, event: Event, spot: Spot) -> str:
    """Why `for x, y in loader` surely fails: each example of its data set has another number of parts."""
    if event.kind != "for":
        return ""
    loop = spot.function.loops[int(event.text)]
    target, source = loop.target, loop.source
    while source is not None and source.kind == "call" and source.arguments and source.last in (*_SHOWING, "enumerate"):
        if source.last == "enumerate":
            target = (
                target.parts[1] if target is not None and target.kind == "tuple" and len(target.parts) == 2 else None
            )
        source = source.arguments[0]
    if target is None or source is None or target.kind != "tuple" or any(part.kind == "star" for part in target.parts):
        return ""
    things = index.objects.of(source, spot)
    said = [_other_number(index, one, len(target.parts)) for one in things]
    return said[0] if said and all(said) else ""


def _other_number(index: Index, thing: Thing, wanted: int) -> str:
    if not isinstance(thing, Instance) or thing.call is None or thing.spot is None:
        return ""
    loader = Loader(thing.call, thing.spot)
    if called(index, loader.call, loader.spot) != LOADER or not _is_collated_plainly(loader.call):
        return ""
    found = [_of_examples(index, one, wanted) for one in datasets(index, loader.call, loader.spot)]
    return found[0] if found and all(found) else ""


def _is_collated_plainly(call: Expr) -> bool:
    size = call.argument(1, "batch_size")
    return not is_spread(call) and call.argument(6, "collate_fn") is None and (size is None or size.text != "None")


def _of_examples(index: Index, dataset: Thing, wanted: int) -> str:
    if not isinstance(dataset, Instance) or not isinstance(dataset.kind, Class):
        return ""
    getter = index.method(dataset.kind, "__getitem__")
    if (
        getter is None
        or not _PLAIN.issuperset(index.external_bases(dataset.kind))
        or "__getitems__" in dataset.kind.methods
    ):
        return ""
    lengths = lengths_given_back(index, Target(getter, dataset))
    if not lengths or wanted in lengths:
        return ""
    return f"an example of {dataset.name} has {lengths[0]} parts, not {wanted}"
