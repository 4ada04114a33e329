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

from collections.abc import Iterator

from trainsleuth.facts import Expr, Index, Site, Spot, is_test, written
from trainsleuth.facts.data.loaders import loader_sites
from trainsleuth.facts.data.purpose import is_for_training, may_be_endless, may_outlive_epoch
from trainsleuth.facts.data.seed_values import is_of_numpy_state, is_of_worker, is_same_each_epoch
from trainsleuth.facts.data.seeding import Seeding, is_of_global_generator, seedings_behind
from trainsleuth.facts.data.workers import is_drawn_from, number_of_workers, run_by_workers
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "same-randomness-per-epoch",
    "data",
    "note",
    "",
    suspects=("repeated-order-or-randomness",),
    claims=("worker-seed-from-state",),
    look="print the first draw of each worker, with its get_worker_info().id, in two epochs",
)
_DRAW_FROM_TORCH = (
    "RandomCrop",
    "RandomResizedCrop",
    "RandomHorizontalFlip",
    "RandomRotation",
    "RandomAffine",
    "ColorJitter",
)


def check(index: Index) -> Iterator[Finding]:
    said: set[Expr] = set()
    for site in loader_sites(index):
        starting = site.call.keyword("worker_init_fn")
        if starting is None or is_test(site.function.path):
            continue
        found = _repeated(index, site, starting)
        if not isinstance(found, Seeding):
            yield found
        elif found.call in said:
            yield SAY.passed(site.function.path, site.call.line, "its workers are seeded by what was asked already")
        else:
            said.add(found.call)
            yield _question(site, found)


def _repeated(index: Index, site: Site, starting: Expr) -> Finding | Seeding:
    """The seed that is the same in each epoch, or what says that it does not matter."""
    path, line = site.function.path, site.call.line
    if may_outlive_epoch(site):
        return SAY.passed(path, line, "its workers may outlive the epoch")
    if number_of_workers(index, site) == 0:
        return SAY.passed(path, line, "the data are loaded in the main process")
    if not is_for_training(site):
        return SAY.passed(path, line, "nothing says that it trains: an evaluation may repeat its draws")
    if may_be_endless(index, site):
        return SAY.open(path, line, "it may be gone over once only")
    for seeding in seedings_behind(index, starting, Spot(site.function, site.position)):
        if _repeats(seeding) and _is_drawn_from(index, site, seeding.call):
            return seeding
    return SAY.passed(path, line, f"{written(starting)} is not seen to seed each epoch alike")


def _repeats(seeding: Seeding) -> bool:
    """One seed for all workers is what same-randomness-per-worker tells."""
    is_global = is_of_global_generator(seeding.call)
    return is_global and is_same_each_epoch(seeding) and is_of_worker(seeding)


def _is_drawn_from(index: Index, site: Site, seeding: Expr) -> bool:
    if seeding.callee.startswith("torch"):
        return any(index.sites.may_call(name) for name in _DRAW_FROM_TORCH)
    made = {call.last for event in site.function.events for call in event.calls}
    near = [one for one in run_by_workers(index, site) if one.owner in made and one.name in ("__getitem__", "__call__")]
    return is_drawn_from(index, site, seeding, near or None)


def _question(site: Site, seeding: Seeding) -> Finding:
    path, line = site.function.path, site.call.line
    shown, where = written(seeding.call), f"{seeding.path}:{seeding.call.line}"
    family = seeding.call.callee.rpartition(".")[0]
    why = ", since torch 1.9 whatever the seed of the run" if is_of_numpy_state(seeding.seed) else ""
    message = (
        f"{shown} at {where} begins the numbers of {family} anew in each worker of the loader at {path}:{line}, in every epoch at the same "
        f"one{why}: is the augmentation meant to repeat? Expected torch.initial_seed() % 2**32."
    )
    chain = (Link(seeding.path, seeding.call.line, f"{shown}"), Link(path, line, "each worker of this loader runs it"))
    return SAY.fail(seeding.path, seeding.call.line, message, chain, "medium", "note")
