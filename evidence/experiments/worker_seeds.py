"""NumPy randomness in loader workers: torch seeds it now; a generator made before the fork is still shared."""

import numpy
import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler

CLAIMS = {
    "loader-worker-seeds": "two workers, 8 draws: {module:.0f} repeated with the functions of numpy.random, {held:.0f} with a "
    "numpy Generator held by the data set",
    "worker-seed-from-state": "two epochs of 8 draws of two workers that seed numpy from the first word of its state and their id: "
    "{repeated:.0f} of the second are those of the first, {elsewhere:.0f} are those of a run with another seed; without that function "
    "{left_alone:.0f}",
    "sampler-set-epoch": "two epochs of a distributed sampler without set_epoch: {same:.0%} of the places equal; with it {moved:.0%}",
}
SEEDS = 1
EXPECT = {
    "the functions of numpy.random are seeded per worker": lambda m: m["module"] == 0,
    "a generator of the data set is copied into every worker": lambda m: m["held"] == 4,
    "seeded from its state the second epoch draws what the first did": lambda m: m["repeated"] == 8,
    "and so does a run with another seed": lambda m: m["elsewhere"] == 8,
    "left alone neither does": lambda m: m["left_alone"] == 0,
    "without set_epoch the order repeats": lambda m: m["same"] == 1,
    "with it it does not": lambda m: m["moved"] < 0.2,
}


class Drawn(Dataset):
    def __init__(self, generator=None):
        self.generator = generator

    def __len__(self):
        return 8

    def __getitem__(self, place):
        return (self.generator or numpy.random).normal()


def repeats(data):
    drawn = [float(value) for value in DataLoader(data, num_workers=2, batch_size=None)]
    return len(drawn) - len(set(drawn))


def from_state(worker):
    numpy.random.seed(numpy.random.get_state()[1][0] + worker)


def epochs(seed, start):
    numpy.random.seed(seed)
    torch.manual_seed(seed)
    loader = DataLoader(Drawn(), num_workers=2, batch_size=None, worker_init_fn=start)
    return [[float(value) for value in loader] for _ in range(2)]


def alike(one, other):
    return sum(a == b for a, b in zip(one, other, strict=True))


def order(sampler, epoch=None):
    if epoch is not None:
        sampler.set_epoch(epoch)
    return torch.tensor(list(sampler))


def measure(seed):
    first, second = epochs(seed, from_state)
    (elsewhere, _), (plain, again) = epochs(seed + 1, from_state), epochs(seed, None)
    numpy.random.seed(seed)
    sampler = DistributedSampler(range(200), num_replicas=2, rank=0, seed=seed)
    return {
        "module": repeats(Drawn()),
        "held": repeats(Drawn(numpy.random.default_rng(seed))),
        "repeated": alike(first, second),
        "elsewhere": alike(first, elsewhere),
        "left_alone": alike(plain, again),
        "same": (order(sampler) == order(sampler)).float().mean().item(),
        "moved": (order(sampler, 0) == order(sampler, 1)).float().mean().item(),
    }
