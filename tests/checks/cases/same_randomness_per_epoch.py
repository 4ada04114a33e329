"""Programs for same-randomness-per-epoch."""

from ._programs import mutant

_INIT = """
import random
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

class Crops(Dataset):
    def __init__(self, images):
        self.images = images

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        left = self.place()
        return self.images[i][:, left:]

    def place(self):
        return np.random.randint(8) + random.randrange(2)

def seed_worker(worker_id):
    seed = torch.initial_seed() % 2**32
    np.random.seed(seed)
    random.seed(seed)

def build(images, args):
    data = Crops(images)
    return DataLoader(data, shuffle=True, num_workers=args.workers, worker_init_fn=seed_worker)
"""
_PARTIAL = """
# file: build.py
from functools import partial
import random
import torch
from torch.utils.data import DataLoader, DistributedSampler

def init(worker_id, num_workers, rank, seed):
    worker_seed = num_workers * rank + worker_id + torch.initial_seed()
    random.seed(worker_seed)

def build_dataloader(dataset, rank, workers, seed=None, **kwargs):
    start = partial(init, num_workers=workers, rank=rank, seed=seed) if seed is not None else None
    sampler = DistributedSampler(dataset, rank=rank)
    return DataLoader(dataset, sampler=sampler, num_workers=workers, worker_init_fn=start, **kwargs)
# file: train.py
from build import build_dataloader
from pipeline import Flip
# file: pipeline.py
import random

class Flip:
    def __call__(self, results):
        if random.random() < 0.5:
            results["img"] = results["img"][:, ::-1]
        return results
"""
_VISION = """
import torch
from torchvision import datasets, transforms

def init(worker):
    torch.manual_seed(torch.initial_seed() + worker)

moves = transforms.Compose([transforms.RandomCrop(32, 4), transforms.ToTensor()])
train_set = datasets.CIFAR10("data", transform=moves)
train_loader = torch.utils.data.DataLoader(train_set, 64, True, num_workers=2, worker_init_fn=init)
"""
_WHOLE = """class Crops(Dataset):
    def __init__(self, images):
        self.images = images

    def __getitem__(self, i):
        return self.images[i]

"""
_OF_TORCH = "torch.initial_seed() % 2**32"

FAILS = {
    "the seed of the run": mutant(_INIT, (_OF_TORCH, "args.seed + worker_id")),
    "only one of two generators": mutant(_INIT, ("    random.seed(seed)", "    random.seed(1000 * worker_id)")),
    "numpy's state": mutant(_INIT, (_OF_TORCH, "np.random.get_state()[1][0] + worker_id")),
    "a lambda": mutant(
        _INIT, ("worker_init_fn=seed_worker", "worker_init_fn=lambda w: random.seed(7 + w), drop_last=True")
    ),
    "partial, by ranks": mutant(_PARTIAL, ("torch.initial_seed()", "seed")),
    "transforms of torchvision": mutant(_VISION, ("torch.initial_seed() + worker", "123 + worker")),
}
_FAULTY = FAILS["the seed of the run"]

SILENT = {
    "from the seed of torch": _INIT,
    "from the seed of torch, by ranks": _PARTIAL,
    "torchvision": _VISION,
    "from what torch says of the worker": mutant(
        _INIT,
        (_OF_TORCH, "info.seed % 2**32"),
        ("    seed =", "    info = torch.utils.data.get_worker_info()\n    seed ="),
    ),
    "from the time": mutant(
        _INIT, (_OF_TORCH, "worker_id + int(time.time())"), ("import random", "import random, time")
    ),
    "workers that stay": mutant(_FAULTY, ("shuffle=True,", "shuffle=True, persistent_workers=True,")),
    "options that may keep the workers": mutant(
        FAILS["partial, by ranks"],
        ("    sampler =", '    kwargs["persistent_workers"] = True\n    sampler ='),
    ),
    "no workers": mutant(_FAULTY, ("num_workers=args.workers", "num_workers=0")),
    "an evaluation": mutant(_FAULTY, ("shuffle=True, ", "")),
    "an evaluation by name": mutant(_FAULTY, ("def build(", "def build_val(")),
    "made anew for each epoch": mutant(_FAULTY, ("def build(images, args)", "def build(images, args, epoch)")),
    "nothing is drawn": mutant(
        _FAULTY, ("np.random.randint(8) + random.randrange(2)", "torch.randint(8, (1,)).item()")
    ),
    "what draws is not used here": mutant(
        _FAULTY, ("class Crops(Dataset)", "class Others(Dataset)"), ("def seed_worker", _WHOLE + "def seed_worker")
    ),
    "a stream": mutant(
        _FAULTY,
        ("DataLoader, Dataset", "DataLoader, IterableDataset"),
        ("class Crops(Dataset)", "class Crops(IterableDataset)"),
        (
            "    def __getitem__(self, i):\n        left = self.place()",
            "    def __iter__(self):\n        i, left = 0, self.place()",
        ),
        ("        return self.images[i][:, left:]", "        yield self.images[i][:, left:]"),
    ),
}
