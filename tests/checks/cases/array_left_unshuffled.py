"""Programs for array-left-unshuffled."""

from ._programs import mutant

_SESSIONS = """
import numpy as np

class Sessions:
    def __init__(self, data):
        inputs, mask = pad(data[0])
        self.inputs = np.asarray(inputs)
        self.mask = np.asarray(mask)
        self.targets = np.asarray(data[1])
        self.lengths = [len(row) for row in inputs]

    def batches(self, size):
        order = np.arange(len(self.inputs))
        np.random.shuffle(order)
        self.inputs = self.inputs[order]
        self.mask = self.mask[order]
        self.targets = self.targets[order]
        return np.split(np.arange(len(self.inputs)), size)

    def rows(self, i):
        inputs, mask, targets = self.inputs[i], self.mask[i], self.targets[i]
        return inputs, mask, targets
"""
_FIT = """
import torch
from sklearn.utils import shuffle
from mine import minibatch

def fit(net, sequences, targets, users, step, negatives_of, epochs):
    users = users.reshape(-1, 1)
    for epoch in range(epochs):
        users, sequences, targets = shuffle(users, sequences, targets)
        negatives = negatives_of(users)
        a, b, c, d = (
            torch.from_numpy(users).long(),
            torch.from_numpy(sequences).long(),
            torch.from_numpy(targets).long(),
            torch.from_numpy(negatives).long(),
        )
        for one in minibatch(a, b, c, d):
            step(net, *one)
"""
_LOOP = """
import numpy as np

def train(model, step, x, y, weights, size):
    for epoch in range(10):
        order = np.random.permutation(len(x))
        x = x[order]
        y = y[order]
        weights = weights[order]
        for start in range(0, len(x), size):
            xs = x[start : start + size]
            ys = y[start : start + size]
            ws = weights[start : start + size]
            step(model, xs, ys, ws)
"""
_ZIP = """
import torch
from torch.utils.data import DataLoader, TensorDataset

def loader(x, lengths, y):
    order = torch.randperm(len(x))
    x, lengths, y = x[order], lengths[order], y[order]
    return DataLoader(TensorDataset(x, lengths, y), 32)
"""
SILENT = {
    "sessions": _SESSIONS,
    "fit": _FIT,
    "loop": _LOOP,
    "zip": _ZIP,
    "made of what was shuffled": mutant(_LOOP, ("weights = weights[order]", "weights = np.abs(y)")),
    "has its order from the data before": mutant(
        _LOOP,
        ("        weights = weights[order]\n", ""),
        ("        x = x[order]\n", "        weights = weights[order]\n        x = x[order]\n"),
    ),
    "shuffled by another method": mutant(
        _SESSIONS,
        ("        self.targets = self.targets[order]\n", "        self.arrange(order)\n"),
        ("    def rows", "    def arrange(self, order):\n        self.targets = self.targets[order]\n\n    def rows"),
    ),
    "another part of the data": """
import torch
from sklearn.utils import shuffle

def load(x, y, x_test, y_test):
    x, y = shuffle(x, y)
    return torch.from_numpy(x), torch.from_numpy(y), torch.from_numpy(x_test), torch.from_numpy(y_test)
""",
    "filled row by row": """
import numpy as np

def score(model, x, y):
    scores = np.zeros(len(x))
    order = np.random.permutation(len(x))
    x, y = x[order], y[order]
    for i in range(len(x)):
        scores[i] = model(x[i], y[i])
        print(x[i], y[i], scores[i])
    return scores
""",
    "cut in another way": """
import numpy as np

def train(step, x, y, rates):
    order = np.random.permutation(len(x))
    x, y = x[order], y[order]
    for epoch in range(10):
        for i in range(len(x)):
            step(x[i], y[i], rates[epoch])
""",
}
FAILS = {
    "sessions": mutant(_SESSIONS, ("        self.targets = self.targets[order]\n", "")),
    "fit": mutant(
        _FIT,
        (
            "        users, sequences, targets = shuffle(users, sequences, targets)",
            "        sequences, targets = shuffle(sequences, targets)",
        ),
    ),
    "loop": mutant(_LOOP, ("        weights = weights[order]\n", "")),
    "loop, labels": mutant(_LOOP, ("        y = y[order]\n", "")),
    "zip": mutant(_ZIP, ("x, lengths, y = x[order], lengths[order], y[order]", "x, y = x[order], y[order]")),
}
