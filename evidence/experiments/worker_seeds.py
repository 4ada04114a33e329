"""NumPy randomness in loader workers: torch seeds it now; a generator made before the fork is still shared."""

import numpy
import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler

CLAIMS = {
    "loader-worker-seeds": "two workers, 8 draws: {module:.0f} repeated with the functions of numpy.random, {held:.0f} with a "
    "numpy Generator held by the data set",
    "sampler-set-epoch": "two epochs of a distributed sampler without set_epoch: {same:.0%} of the places equal; with it {moved:.0%}",
}
SEEDS = 1
EXPECT = {
    "the functions of numpy.random are seeded per worker": lambda m: m["module"] == 0,
    "a generator of the data set is copied into every worker": lambda m: m["held"] == 4,
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


def order(sampler, epoch=None):
    if epoch is not None:
        sampler.set_epoch(epoch)
    return torch.tensor(list(sampler))


def measure(seed):
    numpy.random.seed(seed)
    sampler = DistributedSampler(range(200), num_replicas=2, rank=0, seed=seed)
    return {
        "module": repeats(Drawn()),
        "held": repeats(Drawn(numpy.random.default_rng(seed))),
        "same": (order(sampler) == order(sampler)).float().mean().item(),
        "moved": (order(sampler, 0) == order(sampler, 1)).float().mean().item(),
    }
