"""Programs for cache-across-splits."""

from ._programs import mutant

_CLASS = """
from PIL import Image
from torch.utils.data import Dataset

class Images(Dataset):
    def __init__(self, paths):
        self.paths = paths
        self.cache = {}

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        if i in self.cache:
            return self.cache[i]
        self.cache[i] = Image.open(self.paths[i])
        return self.cache[i]

def build(train_paths, val_paths):
    return Images(train_paths), Images(val_paths)
"""
_SHARED = (
    ("        self.cache = {}\n", ""),
    ("class Images(Dataset):\n", "class Images(Dataset):\n    cache = {}\n\n"),
)

FAILS = {
    "dict of the class": mutant(_CLASS, *_SHARED),
    "made by dict()": mutant(_CLASS, *_SHARED).replace("cache = {}", "cache = dict()"),
    "through the class's name": mutant(_CLASS, *_SHARED).replace("self.cache[i] = ", "Images.cache[i] = "),
    "dict of the module": mutant(
        _CLASS, ("        self.cache = {}\n", ""), ("class Images", "CACHE = {}\n\nclass Images")
    ).replace("self.cache", "CACHE"),
    "two files": """
# file: dataset.py
import torch

class Clips(torch.utils.data.Dataset):
    loaded: dict = {}

    def __init__(self, folder, split):
        self.files = sorted((folder / split).iterdir())

    def __getitem__(self, idx):
        clip = self.loaded.get(idx)
        if clip is None:
            clip = torch.load(self.files[idx])
            self.loaded[idx] = clip
        return clip
# file: train.py
from dataset import Clips

def main(folder):
    train = Clips(folder, "train")
    test = Clips(folder, "test")
    return train, test
""",
}

SILENT = {
    "of the object": _CLASS,
    "keyed by the path": mutant(_CLASS, *_SHARED)
    .replace("[i]", "[self.paths[i]]")
    .replace("self.paths[self.paths[i]]", "self.paths[i]"),
    "one dataset": mutant(
        _CLASS, *_SHARED, ("Images(train_paths), Images(val_paths)", "Images(train_paths + val_paths)")
    ),
    "a table that is only read": """
from torch.utils.data import Dataset

class Words(Dataset):
    codes = {}

    def __init__(self, words):
        self.words = words

    def __getitem__(self, i):
        return self.codes.get(self.words[i])

a, b = Words(["x"]), Words(["y"])
""",
}
