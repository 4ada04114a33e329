"""Every worker of a loader goes over the whole of an iterable dataset.

A worker is a copy of the dataset. One that is asked for indices gets its share of them from the loader; one that is gone
over from its beginning has to take its share itself. If it does not, w workers give each example w times an epoch:
an epoch is w times as long as it is taken for, batches repeat, and a score counts each example w times.

Fix: in __iter__ ask torch.utils.data.get_worker_info() and go over every num_workers-th example, or every num_workers-th
file, from the worker's id on.

Cannot see: workers whose number is not written out, sources that share themselves out (datasets of other libraries),
ranks that go over the same examples.

Bad:
    from torch.utils.data import DataLoader, IterableDataset

    class Lines(IterableDataset):
        def __init__(self, path):
            self.path = path

        def __iter__(self):
            with open(self.path) as lines:
                for line in lines:
                    yield line.split()

    loader = DataLoader(Lines("train.txt"), batch_size=32, num_workers=4)

Good:
    from itertools import islice
    from torch.utils.data import DataLoader, IterableDataset, get_worker_info

    class Lines(IterableDataset):
        def __init__(self, path):
            self.path = path

        def __iter__(self):
            worker = get_worker_info()
            first, step = (worker.id, worker.num_workers) if worker is not None else (0, 1)
            with open(self.path) as lines:
                for line in islice(lines, first, None, step):
                    yield line.split()

    loader = DataLoader(Lines("train.txt"), batch_size=32, num_workers=4)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Class, Expr, Function, Index, Site, Spot, is_test, written
from trainsleuth.facts.data.datasets import dataset_classes, is_iterable
from trainsleuth.facts.data.loaders import loader_sites
from trainsleuth.facts.data.workers import number_of_workers
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "unsharded-iterable",
    "data",
    "warning",
    "batch_as_seen",
    suspects=("repeated-order-or-randomness",),
    claims=("iterable-dataset-per-worker",),
)
_SHARES = re.compile(rb"get_worker_info|worker_?i[dn]|num_workers|islice|[Ss]hard|[Rr]ank|world_size|split_by")
_DRAWS = frozenset(
    {"random", "randint", "randrange", "choice", "choices", "shuffle", "sample", "permutation", "randperm", "rand",
     "randn", "multinomial", "uniform", "integers", "default_rng", "Random", "RandomState", "next"}
)  # fmt: skip
_ALIKE = frozenset(
    {"range", "open", "reader", "DictReader", "glob", "iglob", "rglob", "listdir", "scandir", "walk", "readlines",
     "read_csv", "itertuples", "iterrows", "list", "splitlines"}
)  # fmt: skip
_AROUND = frozenset({"enumerate", "zip", "tqdm", "sorted", "reversed", "iter"})
_LISTED = frozenset({"list", "tuple", "dict", "each"})


def check(index: Index) -> Iterator[Finding]:
    for site in loader_sites(index):
        if not is_test(site.function.path):
            for cls in dataset_classes(index, site.call, Spot(site.function, site.position)):
                if is_iterable(index, cls):
                    yield _examined(index, site, cls)


def _examined(index: Index, site: Site, cls: Class) -> Finding:
    path, line = site.function.path, site.call.line
    workers, starting = number_of_workers(index, site), site.call.keyword("worker_init_fn")
    if workers is not None and workers < 2:
        return SAY.passed(path, line, f"{workers} workers: nothing comes twice")
    if starting is not None and starting.text != "None":
        return SAY.passed(path, line, f"{written(starting)} prepares each worker")
    if _shares_itself_out(index, cls):
        return SAY.passed(path, line, f"{cls.name} speaks of workers or of shares")
    if any(not method.called.isdisjoint(_DRAWS) for method in _methods(index, cls)):
        return SAY.passed(path, line, f"{cls.name} draws: what its workers give differs")
    source = next(_sources(index, cls), None)
    if source is None:
        return SAY.open(path, line, f"what {cls.name} goes over may share itself out among workers")
    if workers is None:
        return SAY.open(path, line, f"each worker goes over all of {cls.name}, but their number is not resolved")
    return _failure(site, cls, workers, *source)


def _methods(index: Index, cls: Class) -> Iterator[Function]:
    for one in index.lineage(cls):
        yield from one.methods.values()


def _shares_itself_out(index: Index, cls: Class) -> bool:
    """Wide: some word for it stands in the class, or in what its methods call by its name."""
    sharing = {function.name for function in index.functions_holding(_SHARES)}
    return any(
        method.source.holds(_SHARES) or not method.called.isdisjoint(sharing - _COMMON)
        for method in _methods(index, cls)
    )


_COMMON = frozenset({"<module>", "__init__", "__iter__", "__len__", "__call__", "main", "forward"})


def _sources(index: Index, cls: Class) -> Iterator[tuple[Function, Expr]]:
    """What __iter__, or a method that it calls, goes over and every worker sees alike."""
    begun = index.method(cls, "__iter__")
    called = begun.called if begun is not None else frozenset()
    for method in dict.fromkeys(_methods(index, cls)):
        if method is begun or (method.name in called and method.name != "__init__"):
            for loop in method.loops:
                if loop.kind == "for" and loop.source is not None and _is_alike(index, cls, method, loop.source):
                    yield method, loop.source


def _is_alike(index: Index, cls: Class, function: Function, source: Expr, depth: int = 3) -> bool:
    if source.kind in _LISTED:
        return True
    if source.kind == "call":
        inner = [one for one in source.arguments if source.last in _AROUND]
        return source.last in _ALIKE or any(_is_alike(index, cls, function, one, depth) for one in inner)
    if source.kind != "path" or not depth:
        return False
    values = _bound(index, cls, function, source.text)
    return bool(values) and all(_is_alike(index, cls, where, value, depth - 1) for where, value in values)


def _bound(index: Index, cls: Class, function: Function, name: str) -> list[tuple[Function, Expr]]:
    """What a name, or an attribute of the object, is given in its class."""
    places = _methods(index, cls) if name.startswith(f"{function.self_name}.") else (function,)
    return [
        (where, event.value)
        for where in places
        for event in where.events
        if event.kind in ("assign", "with") and event.value is not None
        if any(target.text == name for target in event.targets)
    ]


def _failure(site: Site, cls: Class, workers: int, function: Function, source: Expr) -> Finding:
    path, line = site.function.path, site.call.line
    chain = (
        Link(path, line, f"{workers} workers get a copy of {cls.name} each"),
        Link(function.path, source.line, f"each goes over all of {written(source)}"),
    )
    message = (
        f"The loader at {path}:{line} copies {cls.name} into {workers} workers, and each goes over all of {written(source)} at "
        f"{function.path}:{source.line}, so every example comes {workers} times: expected __iter__ to take the part of its worker, by "
        "get_worker_info()."
    )
    return SAY.fail(path, line, message, chain)
