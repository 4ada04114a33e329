"""Every data-loading worker, or every item, draws the same random numbers.

A worker is a copy of the dataset. A generator that the dataset keeps is copied with its state, so all workers
draw the same sequence; so is that of imgaug with its augmenters, which torch never seeds. A worker_init_fn that seeds
with a constant does the same to the global ones. With w workers each augmentation is seen w times, and the data are
less varied than they look. A constant seed that is set in __getitem__ gives the same numbers to every item of every
epoch.

Fix: draw from torch's generator, or make the generator in __getitem__ or worker_init_fn from
torch.initial_seed() or the worker's id.

Cannot see: workers whose number is not written out, generators in objects that are not resolved.

Bad:
    import numpy as np
    from torch.utils.data import DataLoader, Dataset

    class Noisy(Dataset):
        def __init__(self, data, seed=0):
            self.data = data
            self.rng = np.random.default_rng(seed)

        def __len__(self):
            return len(self.data)

        def __getitem__(self, i):
            return self.data[i] + self.rng.normal(size=self.data[i].shape)

    loader = DataLoader(Noisy([1, 2]), batch_size=2, shuffle=True, num_workers=4)

Bad (all workers get the same seed):
    import numpy as np
    from torch.utils.data import DataLoader

    def init(worker_id):
        np.random.seed(42)

    def loaders(dataset):
        return DataLoader(dataset, shuffle=True, num_workers=8, worker_init_fn=init)

Bad (all items get the same noise):
    import numpy as np
    from torch.utils.data import Dataset

    class Noisy(Dataset):
        def __init__(self, data):
            self.data = data

        def __getitem__(self, i):
            np.random.seed(0)
            return self.data[i] + np.random.normal(size=self.data[i].shape)

Good:
    import numpy as np
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Noisy(Dataset):
        def __init__(self, data):
            self.data = data

        def __len__(self):
            return len(self.data)

        def __getitem__(self, i):
            return self.data[i] + torch.randn(3)

    def init(worker_id):
        np.random.seed(torch.initial_seed() % 2**32)

    loader = DataLoader(Noisy([1, 2]), shuffle=True, num_workers=4, worker_init_fn=init)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import (
    Class,
    Expr,
    Function,
    Index,
    Site,
    Spot,
    is_test,
    written,
)
from trainsleuth.facts.data.datasets import dataset_classes
from trainsleuth.facts.data.generators import Kept, kept_generators, may_generate
from trainsleuth.facts.data.loaders import loader_sites
from trainsleuth.facts.data.seed_values import is_one_for_all
from trainsleuth.facts.data.seeding import Seeding, is_of_global_generator, seedings, sets_seed
from trainsleuth.facts.data.workers import is_drawn_from, number_of_workers
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "same-randomness-per-worker",
    "data",
    "warning",
    "",
    suspects=("repeated-order-or-randomness",),
    claims=("loader-worker-seeds",),
    look="print the first draw of each worker in __getitem__, with its get_worker_info().id",
)


def check(index: Index) -> Iterator[Finding]:
    said: set[tuple[str | None, int | None]] = set()
    for site in loader_sites(index):
        if is_test(site.function.path):
            continue
        found = _examined(index, site)
        place = (found.path, found.line)
        if found.outcome == "fail" and place in said:
            found = SAY.passed(
                site.function.path, site.call.line, "its workers are seeded by what was reported already"
            )
        elif found.outcome == "fail":
            said.add(place)
        yield found
    for function in index.functions():
        if function.name == "__getitem__" and function.owner and not is_test(function.path):
            yield from _of_items(function)


def _of_items(function: Function) -> Iterator[Finding]:
    """Seeds that are set for each item: from a constant, unless the class or a test above speaks of evaluation."""
    for event in function.events:
        for call in event.calls:
            if not sets_seed(call) or len(call.arguments) > 1 or not is_of_global_generator(call):
                continue
            given = call.arguments[0]
            above = " ".join(written(branch.test) for branch in event.block.branches if branch.test is not None)
            if given.kind != "number" or _EVALUATES.search(above) or _OF_EVALUATION.search(function.owner):
                yield SAY.passed(function.path, call.line, f"{written(call)} may differ between items, or is meant")
                continue
            message = (
                f"{written(call)} at {function.path}:{call.line} begins the random numbers anew for each item, so every item of every epoch "
                "gets the same ones; expected no seed here, or one made of the index and the epoch."
            )
            yield SAY.fail(
                function.path, call.line, message, (Link(function.path, function.line, "asked for each item"),)
            )


_EVALUATES = re.compile(r"val|test|eval|infer|determin|debug|not .*train|fix", re.I)
_OF_EVALUATION = re.compile(r"(?:^|_|(?<=[a-z]))(?:Val(?!ue)|Test|Eval)")  # ValidationSet, CifarTest; not RetrievalSet


def _examined(index: Index, site: Site) -> Finding:
    path, line = site.function.path, site.call.line
    spot = Spot(site.function, site.position)
    starting = site.call.keyword("worker_init_fn")
    if starting is None and not may_generate(index):
        return SAY.passed(path, line, "nothing in the project makes a generator")
    workers = number_of_workers(index, site)
    if workers == 0:
        return SAY.passed(path, line, "the data are loaded in the main process")
    seeded = _constant_seed(index, starting, spot) if starting is not None else None
    if seeded is not None:
        return _seed_failure(index, site, seeded, workers)
    if starting is not None and starting.text != "None":
        return SAY.passed(path, line, f"{written(starting)} prepares each worker")
    kept = _kept_generator(index, site, spot)
    if kept is None:
        return SAY.passed(path, line, "no generator was found in the dataset")
    if workers is None:
        return SAY.open(path, line, f"{kept.made.why}, but the number of workers is not resolved")
    return _generator_failure(site, kept, workers)


def _constant_seed(index: Index, starting: Expr, spot: Spot) -> Seeding | None:
    """The seed in a worker_init_fn that does not depend on the worker."""
    return next((one for one in seedings(index, starting, spot) if is_one_for_all(one)), None)


def _kept_generator(index: Index, site: Site, spot: Spot) -> Kept | None:
    """In the data set, whose workers are not asked for anywhere in its class."""
    classes = (cls for cls in dataset_classes(index, site.call, spot) if not _asks_for_worker(index, cls))
    return next((kept for cls in classes for kept in kept_generators(index, cls)), None)


def _asks_for_worker(index: Index, cls: Class) -> bool:
    return any(
        call.last in ("get_worker_info", "initial_seed")
        for one in index.lineage(cls)
        for method in one.methods.values()
        for event in method.events
        for call in event.calls
    )


def _generator_failure(site: Site, kept: Kept, workers: int) -> Finding:
    path, line = site.function.path, site.call.line
    made, use = kept
    chain = (made, use, Link(path, line, f"{workers} workers get a copy each"))
    message = (
        f"{made.why} at {made.path}:{made.line}, and the loader at {path}:{line} copies it into {workers} workers, "
        "which then draw the same numbers: expected a generator per worker, seeded from torch.initial_seed()."
    )
    return SAY.fail(made.path, made.line, message, chain)


def _seed_failure(index: Index, site: Site, seeding: Seeding, workers: int | None) -> Finding:
    path, line = site.function.path, site.call.line
    call, where = seeding.call, seeding.path
    named = f"{written(call)} in {seeding.function.name}" if seeding.function is not None else written(call)
    chain = (Link(where, call.line, named), Link(path, line, "each worker of this loader runs it"))
    message = (
        f"{written(call)} at {where}:{call.line} gives every worker of the loader at {path}:{line} the same seed: "
        "expected a seed that depends on the worker's id, or torch.initial_seed() % 2**32."
    )
    if not is_drawn_from(index, site, call):
        said = f"{message} Nothing was found that draws from it in a worker, though."
        return SAY.fail(where, call.line, said, chain, "low", "note")
    return SAY.fail(where, call.line, message, chain, "high" if workers else "medium")
