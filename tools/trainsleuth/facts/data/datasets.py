"""The data set that a loader or a sampler is made over, and how its class gives an example."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..naming.names import External
from ..records import Class, Expr, Function
from ..tracing.making import mentions
from ..tracing.things import Instance, Spot, Thing

if TYPE_CHECKING:
    from ..index import Index

# of torch and torchvision: an example stands at its index, and often those of a class together
_IN_ORDER = (
    "ImageFolder",
    "DatasetFolder",
    "MNIST",
    "FashionMNIST",
    "CIFAR10",
    "CIFAR100",
    "SVHN",
    "TensorDataset",
    "ConcatDataset",
    "STL10",
)


def dataset_given(call: Expr) -> Expr | None:
    """To the call that makes a loader or a sampler."""
    return call.argument(0, "dataset")


def datasets(index: Index, call: Expr, spot: Spot) -> tuple[Thing, ...]:
    """All that the data set of a loader or a sampler may be, as `index.objects` says it."""
    given = dataset_given(call)
    return index.objects.of(given, spot) if given is not None else ()


def dataset_classes(index: Index, call: Expr, spot: Spot) -> Iterator[Class]:
    """The classes of the project among these."""
    kinds = (thing.kind for thing in datasets(index, call, spot) if isinstance(thing, Instance))
    yield from (kind for kind in dict.fromkeys(kinds) if isinstance(kind, Class))


def is_iterable(index: Index, cls: Class) -> bool:
    """It is gone over from its beginning, and asked for no index."""
    return any("Iterable" in base for base in index.external_bases(cls))


def index_of(getter: Function | None) -> str:
    """What __getitem__ calls the index that it is given; "" where there is none."""
    return getter.parameters[1].name if getter is not None and len(getter.parameters) > 1 else ""


def ignores_index(index: Index, call: Expr, spot: Spot) -> bool:
    """A data set whose __getitem__ never uses its index gives something new each time."""
    for cls in dataset_classes(index, call, spot):
        getter = cls.methods.get("__getitem__")
        if getter is not None and (name := index_of(getter)):
            roots = (root for event in getter.events for root in (event.value, *event.targets))
            return not any(mentions(root, [name]) for root in roots)
    return False


def is_in_order(index: Index, call: Expr, spot: Spot) -> bool:
    """In all that it may be an example surely stands at its index, without any shuffling in sight."""
    found = datasets(index, call, spot)
    return bool(found) and all(isinstance(one, Instance) and _keeps_order(index, one) for one in found)


def _keeps_order(index: Index, dataset: Instance) -> bool:
    if isinstance(dataset.kind, External):
        return dataset.kind.name.rpartition(".")[2] in _IN_ORDER
    return _is_indexed(index, dataset.kind)


def _is_indexed(index: Index, cls: Class) -> bool:
    """__getitem__ uses its index, and nothing in the class shuffles or draws."""
    getter = index.method(cls, "__getitem__")
    name = index_of(getter)
    if getter is None or not name or index.method(cls, "__iter__") is not None:
        return False
    events = [event for one in index.lineage(cls) for method in one.methods.values() for event in method.events]
    if any("shuf" in call.last or "perm" in call.last or "rand" in call.callee for e in events for call in e.calls):
        return False
    used = [part for event in getter.events if event.value for part in event.value.walk()]
    return any(part.kind == "index" and any(p.text == name for p in part.parts[1:]) for part in used)
