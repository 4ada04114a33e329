"""Every epoch draws the same random numbers in the loader's workers.

Workers are started anew for each epoch, and torch gives each a seed of that epoch. A worker_init_fn that seeds from
the worker's id and a constant undoes this: the generator begins at the same number again, and the augmentation repeats.
So does np.random.get_state()[1][0] + worker_id: since torch 1.9 one number stands there whatever the seed, so the seed
of the run changes nothing either [worker-seed-from-state].

Fix: torch.initial_seed() % 2**32 in worker_init_fn, which differs between epochs and workers; or no worker_init_fn.

Cannot see: whether the loader is gone over more than once, and seeds that are computed in other functions.

Bad:
    import numpy as np
    from torch.utils.data import DataLoader, Dataset

    class Noisy(Dataset):
        def __init__(self, data):
            self.data = data

        def __len__(self):
            return len(self.data)

        def __getitem__(self, i):
            return self.data[i] + np.random.normal(size=self.data[i].shape)

    def init(worker_id):
        np.random.seed(42 + worker_id)

    train_loader = DataLoader(Noisy([1, 2]), shuffle=True, num_workers=4, worker_init_fn=init)

Bad (the idiom of many tutorials):
    import numpy as np
    from torch.utils.data import DataLoader, Dataset

    class Crops(Dataset):
        def __init__(self, images):
            self.images = images

        def __len__(self):
            return len(self.images)

        def __getitem__(self, i):
            return self.images[i][np.random.randint(8) :]

    train_loader = DataLoader(
        Crops([]),
        shuffle=True,
        num_workers=8,
        worker_init_fn=lambda worker: np.random.seed(np.random.get_state()[1][0] + worker),
    )

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
            return self.data[i] + np.random.normal(size=self.data[i].shape)

    def init(worker_id):
        np.random.seed(torch.initial_seed() % 2**32)

    train_loader = DataLoader(Noisy([1, 2]), shuffle=True, num_workers=4, worker_init_fn=init)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainsleuth.facts import Class, Expr, Function, Index, Instance, Literal, Site, Spot, is_test, makers, written
from trainsleuth.finding import Finding, Link

from ._loading import is_spread, loader_sites, number_of_workers
from ._verdicts import Verdicts
from ._workers import is_drawn_from, run_by_workers

SAY = Verdicts(
    "same-randomness-per-epoch",
    "data",
    "note",
    "",
    suspects=("repeated-order-or-randomness",),
    claims=("worker-seed-from-state",),
    look="print the first draw of each worker, with its get_worker_info().id, in two epochs",
)
_SEEDING = ("np.random.seed", "numpy.random.seed", "random.seed", "torch.manual_seed")
_FIXED = re.compile(r"seed|rank|worker|(^|_)(wid|id|w|x|i|idx|_)$", re.I)
_DRAW_FROM_TORCH = (
    "RandomCrop",
    "RandomResizedCrop",
    "RandomHorizontalFlip",
    "RandomRotation",
    "RandomAffine",
    "ColorJitter",
)
_OF_PROCESS = ("get_rank", "get_world_size", "get_local_rank", "int")
_EVALUATES = re.compile(r"val(?!ue)|test|eval|infer|demo|predict", re.I)
_TRAINS = re.compile(r"train|fit", re.I)
_COUNTS = re.compile(r"(^|_)(epoch|step|round)$")
_ENDLESS = re.compile(r"infinit|endless|cycle|iter(?!ation)|repeat", re.I)


class _Seeding(NamedTuple):
    """A call that sets a seed in each worker, where it stands, and in which function (None: a lambda)."""

    call: Expr
    path: str
    function: Function | None
    parameters: frozenset[str]

    @property
    def seed(self) -> Expr:
        return self.call.arguments[0]


def check(index: Index) -> Iterator[Finding]:
    said: set[Expr] = set()
    for site in loader_sites(index):
        starting = site.call.keyword("worker_init_fn")
        if starting is None or is_test(site.function.path):
            continue
        found = _repeated(index, site, starting)
        if not isinstance(found, _Seeding):
            yield found
        elif found.call in said:
            yield SAY.passed(site.function.path, site.call.line, "its workers are seeded by what was asked already")
        else:
            said.add(found.call)
            yield _question(site, found)


def _repeated(index: Index, site: Site, starting: Expr) -> Finding | _Seeding:
    """The seed that is the same in each epoch, or what says that it does not matter."""
    path, line = site.function.path, site.call.line
    lasting = site.call.keyword("persistent_workers")
    if (lasting is not None and lasting.text != "False") or _may_last(site):
        return SAY.passed(path, line, "its workers may outlive the epoch")
    if number_of_workers(index, site) == 0:
        return SAY.passed(path, line, "the data are loaded in the main process")
    if not _is_for_training(site):
        return SAY.passed(path, line, "nothing says that it trains: an evaluation may repeat its draws")
    if _may_be_endless(index, site):
        return SAY.open(path, line, "it may be gone over once only")
    spot = Spot(site.function, site.position)
    for seeding in _seedings(index, starting, spot):
        if _repeats(seeding) and _is_drawn_from(index, site, seeding.call):
            return seeding
    return SAY.passed(path, line, f"{written(starting)} is not seen to seed each epoch alike")


def _repeats(seeding: _Seeding) -> bool:
    return _is_same_each_time(seeding.seed, seeding.function) and _differs_by_worker(seeding)


def _is_for_training(site: Site) -> bool:
    """It shuffles, or is named after training; what is named after an evaluation may repeat its draws."""
    given = site.call.argument(0, "dataset")
    names = " ".join([*(target.text for target in site.event.targets), written(given) if given is not None else ""])
    if _EVALUATES.search(f"{names} {site.function.name}") and not _TRAINS.search(names):
        return False
    shuffle = site.call.keyword("shuffle")
    shuffles = shuffle is not None and shuffle.text != "False"
    sampled = any(site.call.keyword(name) is not None for name in ("sampler", "batch_sampler"))
    return shuffles or sampled or bool(_TRAINS.search(f"{names} {site.function.name}"))


def _may_last(site: Site) -> bool:
    """persistent_workers is among the **options, or this very loader is made anew for each epoch."""
    function = site.function
    words = [parameter.name for parameter in function.parameters]
    words += (
        [
            part.text
            for event in function.events
            for root in (*event.targets, event.value)
            if root is not None
            for part in root.walk()
            if part.kind in ("string", "pair", "keyword")
        ]
        if is_spread(site.call)
        else []
    )
    return any("persistent_workers" in word or _COUNTS.search(word) for word in words)


def _may_be_endless(index: Index, site: Site) -> bool:
    spot = Spot(site.function, site.position)
    given = site.call.argument(0, "dataset")
    for thing in index.objects.of(given, spot) if given is not None else ():
        kind = thing.kind if isinstance(thing, Instance) else None
        if isinstance(kind, Class) and any("Iterable" in base for base in index.external_bases(kind)):
            return True
    samplers = (site.call.keyword(name) for name in ("sampler", "batch_sampler"))
    return any(_ENDLESS.search(written(one)) for one in (given, *samplers) if one is not None)


def _seedings(index: Index, starting: Expr, spot: Spot) -> Iterator[_Seeding]:
    for made, at in makers(index, starting, spot):
        for one in _unfolded(made):
            for thing in index.objects.of(one, at):
                if isinstance(thing, Function):
                    names = frozenset(parameter.name for parameter in thing.parameters)
                    for event in thing.events:
                        yield from (_Seeding(call, thing.path, thing, names) for call in event.calls if _seeds(call))
                elif isinstance(thing, Literal) and thing.expr.kind == "lambda":
                    names, path = frozenset(thing.expr.text.split(",")), at.function.path
                    yield from (_Seeding(call, path, None, names) for call in thing.expr.walk() if _seeds(call))


def _seeds(call: Expr) -> bool:
    return call.kind == "call" and call.callee in _SEEDING and bool(call.arguments)


def _is_drawn_from(index: Index, site: Site, seeding: Expr) -> bool:
    if seeding.callee.startswith("torch"):
        return any(index.sites.may_call(name) for name in _DRAW_FROM_TORCH)
    made = {call.last for event in site.function.events for call in event.calls}
    near = [one for one in run_by_workers(index, site) if one.owner in made and one.name in ("__getitem__", "__call__")]
    return is_drawn_from(index, site, seeding, near or None)


def _unfolded(made: Expr) -> Iterator[Expr]:
    """init of partial(init, seed=seed) if seed is not None else None."""
    if made.kind == "choice":
        yield from _unfolded(made.parts[0])
        yield from _unfolded(made.parts[2])
    elif made.kind == "call" and made.last == "partial" and made.arguments:
        yield made.arguments[0]
    else:
        yield made


def _is_same_each_time(seed: Expr, own: Function | None) -> bool:
    """It is made of numbers, the worker's id, ranks and names of seeds, or of the first word of numpy's state."""
    if seed.kind == "path":
        given = _given(seed, own)
        return all(_is_same_each_time(one, None) for one in given) if given else bool(_FIXED.search(seed.last))
    if seed.kind == "call":
        return seed.last in _OF_PROCESS and all(_is_same_each_time(part, own) for part in seed.parts[1:])
    if seed.kind in ("binary", "unary", "keyword"):
        return all(_is_same_each_time(part, own) for part in seed.parts)
    return seed.kind == "number" or (seed.kind == "index" and _is_state(seed))


def _differs_by_worker(seeding: _Seeding) -> bool:
    """The worker's id goes into it; one seed for all workers is what same-randomness-per-worker tells."""
    inside = [part for part in seeding.seed.walk() if part.kind == "path"]
    behind = [part for name in inside for one in _given(name, seeding.function) for part in one.walk()]
    return any(part.text in seeding.parameters or _is_state(part) for part in (seeding.seed, *inside, *behind))


def _given(name: Expr, own: Function | None) -> list[Expr]:
    """What `own` makes the name, or what it is an attribute of, from."""
    names = (name.text, name.text.partition(".")[0])
    events = own.events if own is not None else ()
    return [e.value for e in events if e.value is not None and any(t.text in names for t in e.targets)]


def _is_state(seed: Expr) -> bool:
    """np.random.get_state()[1][0] goes into it."""
    return any(part.callee in ("np.random.get_state", "numpy.random.get_state") for part in seed.walk())


def _question(site: Site, seeding: _Seeding) -> Finding:
    path, line = site.function.path, site.call.line
    shown, where = written(seeding.call), f"{seeding.path}:{seeding.call.line}"
    family = seeding.call.callee.rpartition(".")[0]
    why = ", since torch 1.9 whatever the seed of the run" if _is_state(seeding.seed) else ""
    message = (
        f"{shown} at {where} begins the numbers of {family} anew in each worker of the loader at {path}:{line}, in every epoch at the same "
        f"one{why}: is the augmentation meant to repeat? Expected torch.initial_seed() % 2**32."
    )
    chain = (Link(seeding.path, seeding.call.line, f"{shown}"), Link(path, line, "each worker of this loader runs it"))
    return SAY.fail(seeding.path, seeding.call.line, message, chain, "medium", "note")
