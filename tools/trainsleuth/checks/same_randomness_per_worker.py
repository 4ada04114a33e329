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
    External,
    Function,
    Index,
    Instance,
    Literal,
    Site,
    Spot,
    is_test,
    makers,
    written,
)
from trainsleuth.finding import Finding, Link

from ._loading import loader_sites, number_of_workers
from ._verdicts import Verdicts
from ._workers import is_drawn_from

SAY = Verdicts(
    "same-randomness-per-worker",
    "data",
    "warning",
    "",
    suspects=("repeated-order-or-randomness",),
    claims=("loader-worker-seeds",),
    look="print the first draw of each worker in __getitem__, with its get_worker_info().id",
)
_GENERATORS = ("RandomState", "default_rng", "Generator", "Random")
_SEEDING = ("seed", "manual_seed")
_PER_WORKER = ("worker", "initial_seed", "get_worker_info", "seed_all", "getpid", "urandom", "time", "randint")


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
            given = call.arguments[0] if call.last in _SEEDING and len(call.arguments) == 1 else None
            if given is None or not _is_global(call):
                continue
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


def _is_global(call: Expr) -> bool:
    return call.callee in ("np.random.seed", "numpy.random.seed", "random.seed", "torch.manual_seed")


_EVALUATES = re.compile(r"val|test|eval|infer|determin|debug|not .*train|fix", re.I)
_OF_EVALUATION = re.compile(r"(?:^|_|(?<=[a-z]))(?:Val(?!ue)|Test|Eval)")  # ValidationSet, CifarTest; not RetrievalSet


def _examined(index: Index, site: Site) -> Finding:
    path, line = site.function.path, site.call.line
    spot = Spot(site.function, site.position)
    starting = site.call.keyword("worker_init_fn")
    if starting is None and not _may_generate(index):
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
        return SAY.open(path, line, f"{kept[0].why}, but the number of workers is not resolved")
    return _generator_failure(site, kept, workers)


def _constant_seed(index: Index, starting: Expr, spot: Spot) -> tuple[Link, Expr] | None:
    """The seed in a worker_init_fn that does not depend on the worker."""
    for thing in index.objects.of(starting, spot):
        if isinstance(thing, Function):
            own = {parameter.name for parameter in thing.parameters}
            for event in thing.events:
                for call in event.calls:
                    if call.last in _SEEDING and call.arguments and _is_constant(thing, call.arguments[0], own):
                        return Link(thing.path, call.line, f"{written(call)} in {thing.name}"), call
        elif isinstance(thing, Literal) and thing.expr.kind == "lambda":
            own = set(thing.expr.text.split(","))
            for call in thing.expr.walk():
                if call.kind == "call" and call.last in _SEEDING and call.arguments:
                    if not _varies(call.arguments[0], own):
                        return Link(spot.function.path, call.line, f"{written(call)}"), call
    return None


def _is_constant(function: Function, seed: Expr, own: set[str]) -> bool:
    """Neither the worker's id nor anything computed in the function goes into the seed."""
    computed = {target.text for event in function.events for target in event.targets}
    return not _varies(seed, own | computed)


def _varies(seed: Expr, own: set[str]) -> bool:
    return any(
        part.kind == "path" and (part.text.partition(".")[0] in own or any(w in part.text.lower() for w in _PER_WORKER))
        for part in seed.walk()
    )


def _kept_generator(index: Index, site: Site, spot: Spot) -> tuple[Link, Link] | None:
    """A generator made in the dataset's constructor and drawn from in __getitem__."""
    given = site.call.argument(0, "dataset")
    things = index.objects.of(given, spot) if given is not None else ()
    for cls in dict.fromkeys(thing.kind for thing in things if isinstance(thing, Instance)):  # made in many ways
        getter = index.method(cls, "__getitem__") if isinstance(cls, Class) else None
        if not isinstance(cls, Class) or getter is None or _asks_for_worker(index, cls):
            continue
        if found := next(_generators(index, cls, getter), None):
            return found
    return None


def _asks_for_worker(index: Index, cls: Class) -> bool:
    return any(
        call.last in ("get_worker_info", "initial_seed")
        for one in index.lineage(cls)
        for method in one.methods.values()
        for event in method.events
        for call in event.calls
    )


def _generators(index: Index, cls: Class, getter: Function) -> Iterator[tuple[Link, Link]]:
    """Where a generator is made and where it is drawn from. What is drawn from is asked first: how a name was made may
    lead through every call of many constructors."""
    if not _may_generate(index):
        return
    for one in index.lineage(cls):
        if "__init__" not in one.methods:
            continue
        for name in index.hierarchy.attribute_names(one):
            use = _drawn(index, cls, getter, name)
            for method, binding in index.hierarchy.attribute_bindings(one, name):
                value = binding.value
                if method.name != "__init__" or value is None or use is None:
                    continue
                for call, at in makers(index, value, Spot(method, binding.position)):
                    base = call.receiver if call.kind == "call" and call.last == "manual_seed" else call
                    if base is not None and base.kind == "call" and (_is_known(base) or _is_augmenter(index, base, at)):
                        yield Link(at.function.path, call.line, f"self.{name} is {written(call)}"), use


def _is_known(call: Expr) -> bool:
    from_library = call.callee.split(".")[0] in ("np", "numpy", "torch", "random")
    return call.last in _GENERATORS and (from_library or call.callee in _GENERATORS)


def _may_generate(index: Index) -> bool:
    return any(index.sites.may_call(name) for name in _GENERATORS) or _imports_imgaug(index)


def _imports_imgaug(index: Index) -> bool:
    return any(one.module.partition(".")[0] == "imgaug" for file in index.files.values() for one in file.imports)


def _is_augmenter(index: Index, call: Expr, spot: Spot) -> bool:
    """One of imgaug, which draws from a generator that it takes when it is made; torch seeds none of these."""
    thing = index.resolve(spot.function, call.callee) if call.callee and not call.keyword("seed") else None
    return isinstance(thing, External) and thing.name.startswith("imgaug.augmenters.")


def _drawn(index: Index, cls: Class, getter: Function, name: str) -> Link | None:
    """Where __getitem__, or a method that it calls, draws from the generator; None when it is made anew there."""
    waiting, seen = [getter], {getter}
    while waiting:
        method = waiting.pop()
        own = f"{method.self_name}.{name}"
        for event in method.events:
            if any(target.text == own for target in event.targets):
                return None
            for call in event.calls:
                if (
                    call.callee == own
                    or call.callee.startswith(f"{own}.")
                    or any(_given(part).text == own for part in call.parts[1:])
                ):
                    return Link(method.path, call.line, f"{written(call)} draws from it in {method.name}")
                inner = (
                    index.method(cls, call.last) if call.receiver and call.receiver.text == method.self_name else None
                )
                if inner is not None and inner not in seen:
                    seen.add(inner)
                    waiting.append(inner)
    return None


def _given(part: Expr) -> Expr:
    return part.parts[0] if part.kind == "keyword" else part


def _generator_failure(site: Site, kept: tuple[Link, Link], workers: int) -> Finding:
    path, line = site.function.path, site.call.line
    made, use = kept
    chain = (made, use, Link(path, line, f"{workers} workers get a copy each"))
    message = (
        f"{made.why} at {made.path}:{made.line}, and the loader at {path}:{line} copies it into {workers} workers, "
        "which then draw the same numbers: expected a generator per worker, seeded from torch.initial_seed()."
    )
    return SAY.fail(made.path, made.line, message, chain)


def _seed_failure(index: Index, site: Site, seeded: tuple[Link, Expr], workers: int | None) -> Finding:
    path, line = site.function.path, site.call.line
    where, call = seeded
    chain = (where, Link(path, line, "each worker of this loader runs it"))
    message = (
        f"{written(call)} at {where.path}:{where.line} gives every worker of the loader at {path}:{line} the same seed: "
        "expected a seed that depends on the worker's id, or torch.initial_seed() % 2**32."
    )
    if not is_drawn_from(index, site, call):
        said = f"{message} Nothing was found that draws from it in a worker, though."
        return SAY.fail(where.path, where.line, said, chain, "low", "note")
    return SAY.fail(where.path, where.line, message, chain, "high" if workers else "medium")
