"""Programs for split-left-unused."""

from ._programs import mutant

_PHOTOS = """
from glob import glob
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader
from data import Photos

def main(config):
    ids = glob("images/*.png")
    train_ids, val_ids = train_test_split(ids, test_size=0.2, random_state=41)
    print(len(train_ids), len(val_ids), len(ids))
    train_set = Photos(ids=train_ids, folder="images")
    val_set = Photos(ids=val_ids, folder="images")
    return DataLoader(train_set, 32, shuffle=True), DataLoader(val_set, 32)
"""
_RANDOM = """
import torch
from torch.utils.data import DataLoader, random_split

def loaders(dataset, size):
    train_set, val_set, test_set = random_split(dataset, [0.8, 0.1, 0.1])
    a = DataLoader(train_set, size, shuffle=True)
    b = DataLoader(val_set, size)
    return a, b, DataLoader(test_set, size)
"""
_SLICES = """
import random
import torch
from data import Texts

def build(lines):
    random.shuffle(lines)
    n = int(0.9 * len(lines))
    train_lines = lines[:n]
    val_lines = lines[n:]
    train_data = Texts(train_lines)
    val_data = Texts(val_lines)
    return train_data, val_data
"""
_ARRAYS = """
from sklearn.model_selection import train_test_split

def fit(model, x, y):
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.2)
    model.fit(x_train, y_train)
    return model.score(x_test, y_test)
"""
SILENT = {
    "names": _PHOTOS,
    "random_split": _RANDOM,
    "slices": _SLICES,
    "arrays": _ARRAYS,
    "on all of them at the end": mutant(_ARRAYS, ("    return", "    model.fit(x, y)\n    return")),
    "the whole gets another value": mutant(
        _PHOTOS, ("ids=train_ids", "ids=ids"), ("    train_set =", "    ids = train_ids\n    train_set =")
    ),
    "the same name for the part": """
from torch.utils.data import DataLoader, random_split

def loaders(train_set):
    train_set, val_set = random_split(train_set, [0.9, 0.1])
    return DataLoader(train_set, 32, shuffle=True), DataLoader(val_set, 32)
""",
    "nothing is held out": mutant(_PHOTOS, ("ids=train_ids", "ids=ids"), ("ids=val_ids", "ids=glob('val/*.png')")),
    "used in one of two branches": mutant(
        _PHOTOS,
        (
            '    train_set = Photos(ids=train_ids, folder="images")\n',
            "    if config.full:\n        train_set = Photos(ids=ids)\n    else:\n        train_set = Photos(ids=train_ids)\n",
        ),
    ),
    "in a function inside": mutant(
        _PHOTOS,
        (
            '    train_set = Photos(ids=train_ids, folder="images")\n',
            "    def pick():\n        return Photos(train_ids)\n    train_set = pick()\n    whole_train = Photos(ids)\n",
        ),
    ),
    "left out on purpose": mutant(
        _PHOTOS, ("    train_ids, val", "    _, val"), ("len(train_ids), ", ""), ("ids=train_ids", "ids=ids")
    ),
    "in another function": mutant(
        _PHOTOS,
        ("def main(config):\n", "if True:\n"),
        ("    return", "    loaders ="),
        ("    train_set = Photos(ids=train_ids", "    train_all = Photos(ids=ids"),
        ("DataLoader(train_set", "DataLoader(pick()"),
    )
    + "\ndef pick():\n    return Photos(train_ids)\n",
}
FAILS = {
    "names": mutant(_PHOTOS, ("ids=train_ids", "ids=ids")),
    "random_split": mutant(_RANDOM, ("DataLoader(train_set", "DataLoader(dataset")),
    "slices": mutant(_SLICES, ("Texts(train_lines)", "Texts(lines)")),
    "slices at once": mutant(
        _SLICES,
        ("train_lines = lines[:n]\n    val_lines = lines[n:]", "train_lines, val_lines = lines[:n], lines[n:]"),
        ("Texts(train_lines)", "Texts(lines)"),
    ),
    "arrays": mutant(_ARRAYS, ("model.fit(x_train, y_train)", "model.fit(x, y)")),
}
