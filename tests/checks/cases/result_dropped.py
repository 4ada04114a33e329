"""Programs for result-dropped."""

from ._programs import mutant

_SAMPLER = """
import torch
import torch.nn.functional as F

class Sampler:
    def __init__(self, net):
        self.net = net

    @torch.no_grad()
    def sample(self, x, steps):
        for t in reversed(range(steps)):
            x = self.net(x, t)
            x = torch.clamp(x, -1.0, 1.0)
        x = x.permute(0, 2, 3, 1)
        return x

    def embed(self, batch):
        out = self.net(batch["image"])
        out = F.normalize(out, dim=1)
        return out
"""
_TABLE = """
import numpy as np
import pandas as pd
from torch.utils.data import Dataset

class Rows(Dataset):
    def __init__(self, path):
        table = pd.read_csv(path)
        table = table.dropna()
        self.order = np.arange(len(table))
        self.order = np.random.permutation(self.order)
        self.values = table.values.astype("float32")
        self.names = []
        for name in sorted(table.columns):
            self.names.append(name)

    def __getitem__(self, i):
        row = self.values[self.order[i]]
        row = np.clip(row, -3, 3)
        return row

    def __len__(self):
        return len(self.order)
"""
_FILES = """
import random
from pathlib import Path

def parts(folder):
    files = list(Path(folder).glob("*.npy"))
    random.shuffle(files)
    return files[10:], files[:10]
"""
SILENT = {
    "a sampler": _SAMPLER,
    "a table": _TABLE,
    "files": _FILES,
    "in place": mutant(_TABLE, ("table = table.dropna()", "table.dropna(inplace=True)"), ("row = np.clip(row, -3, 3)", "np.clip(row, -3, 3, out=row)")),
    "in place, by place": mutant(_TABLE, ("row = np.clip(row, -3, 3)", "np.clip(row, -3, 3, row)")),
    "a method of the project": mutant(
        _SAMPLER,
        ("x = x.permute(0, 2, 3, 1)", "self.permute(0, 2)"),
        ("    def embed", "    def permute(self, a, b):\n        self.axes = a, b\n\n    def embed"),
    ),
    "tried": """
import numpy as np
import torch

def can_be_viewed(x, shape, arrays):
    try:
        x.view(shape)
        np.concatenate(arrays)
    except (RuntimeError, ValueError):
        return False
    np.abs(x, x)
    return True
""",
    "a graph that is shown": """
import torch
import torch.nn.functional as F
from torchviz import make_dot

def show(net, x):
    F.relu(x, True)
    dot = make_dot(net(x))
    dot.view()
""",
    "shown by a cell": "# file: look.ipynb\nimport pandas as pd\ntable = pd.read_csv('x.csv')\ntable.dropna()\n",
    "timed": """
import time
import torch

def time_softmax(x):
    start = time.time()
    for _ in range(100):
        torch.softmax(x, -1)
    return time.time() - start
""",
    "an array that is shuffled by a view": """
import numpy as np

def shuffled(x):
    np.random.shuffle(x[10:])
    return x
""",
}  # fmt: skip
FAILS = {
    "a clamp": mutant(_SAMPLER, ("x = torch.clamp(x, -1.0, 1.0)", "torch.clamp(x, -1.0, 1.0)")),
    "axes": mutant(_SAMPLER, ("x = x.permute(0, 2, 3, 1)", "x.permute(0, 2, 3, 1)")),
    "a norm": mutant(_SAMPLER, ("out = F.normalize(out, dim=1)", "F.normalize(out, dim=1)")),
    "rows with holes": mutant(_TABLE, ("table = table.dropna()", "table.dropna()")),
    "an order": mutant(_TABLE, ("self.order = np.random.permutation(self.order)", "np.random.permutation(self.order)")),
    "a clip of a row": mutant(_TABLE, ("row = np.clip(row, -3, 3)", "np.clip(row, -3, 3)")),
    "a copy": mutant(_FILES, ("random.shuffle(files)", "random.shuffle(list(files))")),
}  # fmt: skip
