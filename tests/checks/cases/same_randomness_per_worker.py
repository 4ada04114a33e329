"""Programs for same-randomness-per-worker."""

from ._programs import mutant

_KEPT = """
import numpy as np
from torch.utils.data import DataLoader, Dataset

class Noisy(Dataset):
    def __init__(self, data):
        self.data = data
        self.rng = None

    def __len__(self):
        return len(self.data)

    def jitter(self, x):
        return x + self.rng.normal(size=x.shape)

    def __getitem__(self, i):
        return self.jitter(self.data[i])

def build(data):
    return DataLoader(Noisy(data), batch_size=4, shuffle=True, num_workers=8)
"""
_INIT = """
import random
import numpy as np
import torch
from torch.utils.data import DataLoader

SEED = 7

def seed_worker(worker_id):
    seed = torch.initial_seed() % 2**32
    np.random.seed(seed)
    random.seed(seed)

def build(dataset, args):
    return DataLoader(dataset, shuffle=True, num_workers=args.workers, worker_init_fn=seed_worker)
"""
_LAMBDA = """
import numpy as np
from torch.utils.data import DataLoader

class Loaders:
    def __init__(self, config):
        self.config = config

    def train(self, dataset):
        init = lambda worker: np.random.seed(self.config.seed + worker)
        return DataLoader(dataset, shuffle=True, num_workers=4, worker_init_fn=init)
"""

FAILS = {
    "numpy generator": mutant(_KEPT, ("        self.rng = None", "        self.rng = np.random.default_rng(0)")),
    "random state": mutant(_KEPT, ("        self.rng = None", "        self.rng = np.random.RandomState(3)")),
    "torch generator": mutant(
        _KEPT,
        ("        self.rng = None", "        self.rng = torch.Generator().manual_seed(0)"),
        ("self.rng.normal(size=x.shape)", "torch.randn(x.shape, generator=self.rng)"),
        ("import numpy as np", "import torch"),
    ),
    "standard library, handed in": mutant(
        _KEPT,
        ("import numpy as np", "import random"),
        ("    def __init__(self, data):", "    def __init__(self, data, rng):"),
        ("        self.rng = None", "        self.rng = rng"),
        ("self.rng.normal(size=x.shape)", "self.rng.random()"),
        ("Noisy(data)", "Noisy(data, random.Random(0))"),
    ),
    "constant seed in a function": mutant(_INIT, ("torch.initial_seed() % 2**32", "SEED")).replace(
        "    seed = SEED\n    np.random.seed(seed)\n    random.seed(seed)",
        "    np.random.seed(SEED)\n    random.seed(SEED)",
    ),
    "constant seed in a lambda": mutant(_LAMBDA, ("self.config.seed + worker", "self.config.seed")),
    "workers as a default of the command line": """
# file: main.py
import argparse
from data import make

parser = argparse.ArgumentParser()
parser.add_argument("--num-workers", type=int, default=4)
args = parser.parse_args()
loader = make(["a"], args)
# file: data.py
import numpy as np
import torch

class Crops(torch.utils.data.Dataset):
    def __init__(self, files):
        self.files = files
        self.generator = np.random.default_rng(1)

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        start = self.generator.integers(0, 10)
        return self.files[index][start:]

def make(files, args):
    return torch.utils.data.DataLoader(Crops(files), num_workers=args.num_workers)
""",
}

_AUGMENTED = """
import cv2
from imgaug import augmenters as iaa
from torch.utils.data import DataLoader, Dataset

class Textures(Dataset):
    def __init__(self, files):
        self.files = files
        self.turn = iaa.Sequential([iaa.Affine(rotate=(-90, 90)), iaa.Fliplr(0.5)])

    def __len__(self):
        return len(self.files)

    def changed(self, image):
        return self.turn(image=image)

    def __getitem__(self, i):
        return self.changed(cv2.imread(self.files[i]))

loader = DataLoader(Textures([]), batch_size=8, shuffle=True, num_workers=16)
"""
FAILS["imgaug"] = _AUGMENTED
FAILS["imgaug, by a method"] = mutant(_AUGMENTED, ("self.turn(image=image)", "self.turn.augment_image(image)"))

_ITEM = """
import random
import torch

class Crops(torch.utils.data.Dataset):
    def __init__(self, images, train):
        self.images, self.train = images, train

    def __getitem__(self, i):
        if not self.train:
            random.seed(0)
        left = random.randrange(8)
        return self.images[i][:, left:]
"""
FAILS["a seed for each item of a retrieval set"] = mutant(
    _ITEM, ("class Crops", "class RetrievalCrops"), ("        if not self.train:\n    ", "")
)
FAILS["a seed for each item"] = mutant(
    _ITEM, ("        if not self.train:\n            random.seed(0)", "        random.seed(0)")
)
FAILS["a seed for each item that trains"] = mutant(_ITEM, ("if not self.train", "if self.train"))

SILENT = {
    "imgaug, seeded in each worker": mutant(_AUGMENTED, ("num_workers=16", "num_workers=16, worker_init_fn=start")),
    "imgaug, made for each item": mutant(
        _AUGMENTED,
        ("        self.turn = iaa.Sequential([iaa.Affine(rotate=(-90, 90)), iaa.Fliplr(0.5)])\n", ""),
        ("return self.turn(image=image)", "return iaa.Affine(rotate=(-90, 90))(image=image)"),
    ),
    "imgaug in the main process": mutant(_AUGMENTED, (", num_workers=16", "")),
    "items that are evaluated": _ITEM,
    "a seed of the item": mutant(
        _ITEM, ("        if not self.train:\n            random.seed(0)", "        random.seed(i)")
    ),
    "the items of an evaluation": mutant(
        _ITEM, ("class Crops", "class ValidationCrops"), ("        if not self.train:\n    ", "")
    ),
    "set in each worker": _KEPT,
    "from the seed of torch": _INIT,
    "from the id": _LAMBDA,
    "no workers": mutant(
        _KEPT, ("        self.rng = None", "        self.rng = np.random.default_rng(0)"), (", num_workers=8", "")
    ),
    "made anew for each example": mutant(
        _KEPT,
        ("        self.rng = None", "        self.rng = np.random.default_rng(0)"),
        (
            "    def __getitem__(self, i):\n",
            "    def __getitem__(self, i):\n        self.rng = np.random.default_rng(i)\n",
        ),
    ),
    "used in the constructor only": mutant(
        _KEPT,
        (
            "        self.rng = None",
            "        self.rng = np.random.default_rng(0)\n        self.order = self.rng.permutation(9)",
        ),
        ("self.rng.normal(size=x.shape)", "1"),
    ),
}
