"""How many examples a dataset has, where its name says so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..records import Expr
from ..tracing.callers import external_name
from ..tracing.making import makers
from ..tracing.numbers import whole_number
from ..tracing.things import Instance, Spot
from .datasets import dataset_given, datasets

if TYPE_CHECKING:
    from ..index import Index

_OF_TORCHVISION = {
    "MNIST": (60_000, 10_000),
    "FashionMNIST": (60_000, 10_000),
    "KMNIST": (60_000, 10_000),
    "CIFAR10": (50_000, 10_000),
    "CIFAR100": (50_000, 10_000),
}  # those of train=True, and of train=False


def possible_lengths(index: Index, call: Expr, spot: Spot) -> Iterator[int]:
    """Of the dataset that a loader is made over; wide: also every number that what it is made of is cut at."""
    for thing in datasets(index, call, spot):
        if isinstance(thing, Instance):
            yield from _named(thing)
    given = dataset_given(call)
    yield from _cut(index, given, spot, 4) if given is not None else ()


def _named(dataset: Instance) -> Iterator[int]:
    name = external_name(dataset)
    lengths = _OF_TORCHVISION.get(name.rpartition(".")[2]) if name.startswith("torchvision.datasets") else None
    train = dataset.call.argument(1, "train") if dataset.call is not None else None
    if lengths is not None and (train is None or train.text in ("True", "False")):
        yield lengths[train is not None and train.text == "False"]


def _cut(index: Index, expr: Expr, spot: Spot, depth: int) -> Iterator[int]:
    """n of TensorDataset(x[:n]), and of what is made out of range(n)."""
    for made, at in makers(index, expr, spot):
        for part in made.walk():
            bounds = part.parts if part.kind == "slice" else part.arguments if part.last == "range" else ()
            yield from (n for bound in bounds if (n := _number(index, bound, at)) is not None)
            if depth and part.kind == "path" and part is not expr:
                yield from _cut(index, part, at, depth - 1)


def _number(index: Index, expr: Expr, spot: Spot) -> int | None:
    if expr.kind == "binary" and expr.text == "*":
        one, other = (_number(index, part, spot) for part in expr.parts)
        return one * other if one is not None and other is not None else None
    return whole_number(index, expr, spot)
