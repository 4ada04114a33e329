"""Programs for model-kept-across-folds."""

from ._programs import mutant

_SCRIPT = """
import numpy as np
import torch
from sklearn.model_selection import StratifiedKFold
from torch import nn, optim

x, y = torch.randn(100, 8), torch.randint(0, 3, (100,))
skf = StratifiedKFold(n_splits=5, shuffle=True, random_state=0)
scores = []
for fold, (train_idx, val_idx) in enumerate(skf.split(x, y)):
    model = nn.Linear(8, 3)
    model = model.to("cpu")
    optimizer = optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(10):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[train_idx]), y[train_idx])
        loss.backward()
        optimizer.step()
    scores.append((model(x[val_idx]).argmax(1) == y[val_idx]).float().mean().item())
print(np.mean(scores))
"""
_HELPERS = """
import torch
from sklearn.model_selection import KFold
from torch.utils.data import DataLoader, Subset

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def forward(self, x):
        return self.layer(x)

def fit(model, loader, epochs=5):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            (model(x) - y).pow(2).mean().backward()
            optimizer.step()

def score(model, loader):
    return sum((model(x) - y).pow(2).sum().item() for x, y in loader)

def main(dataset):
    splits = list(KFold(n_splits=5).split(dataset))
    for train, val in splits:
        model = Net()
        fit(model, DataLoader(Subset(dataset, train), 8, shuffle=True))
        print(score(model, DataLoader(Subset(dataset, val), 8)))
"""
_WEIGHTS = """
import copy
import torch
from sklearn.model_selection import GroupKFold

def cross_validate(model, x, y, groups):
    first = copy.deepcopy(model.state_dict())
    optimizer = torch.optim.Adam(model.parameters())
    for train, val in GroupKFold(5).split(x, y, groups):
        model.load_state_dict(first)
        optimizer.zero_grad()
        (model(x[train]) - y[train]).abs().mean().backward()
        optimizer.step()
        print((model(x[val]) - y[val]).abs().mean())
"""
_MADE = '    model = nn.Linear(8, 3)\n    model = model.to("cpu")\n    optimizer = optim.Adam(model.parameters(), lr=1e-3)\n'
_BEFORE = _MADE.replace("    model", "model").replace("    optimizer", "optimizer")
_OF_MODEL = "    model = nn.Linear(8, 3)\n"
SILENT = {
    "a script": _SCRIPT,
    "helpers": _HELPERS,
    "the first weights come back": _WEIGHTS,
    "only one of the folds": mutant(
        mutant(_SCRIPT, (_MADE, "    if fold != 3:\n        continue\n")), ("scores = []\n", f"scores = []\n{_BEFORE}")
    ),
    "a function that resets it": mutant(
        mutant(_SCRIPT, (_MADE, "    model.apply(reset_weights)\n")), ("scores = []\n", f"scores = []\n{_BEFORE}")
    ),
    "nothing is trained": mutant(
        mutant(_HELPERS, ("        fit(model, DataLoader(Subset(dataset, train), 8, shuffle=True))\n", "")),
        ("        model = Net()\n", ""),
    ).replace("def main(dataset):\n", "def main(dataset):\n    model = Net()\n"),
}
FAILS = {
    "a script": mutant(mutant(_SCRIPT, (_MADE, "")), ("scores = []\n", f"scores = []\n{_BEFORE}")),
    "the model alone": mutant(
        mutant(_SCRIPT, (_OF_MODEL, "")), ("scores = []\n", "scores = []\nmodel = nn.Linear(8, 3)\n")
    ).replace('    model = model.to("cpu")\n', ""),
    "helpers": mutant(_HELPERS, ("        model = Net()\n", "")).replace(
        "def main(dataset):\n", "def main(dataset):\n    model = Net()\n"
    ),
    "the weights are kept and never brought back": mutant(_WEIGHTS, ("        model.load_state_dict(first)\n", "")),
    "the best of each fold": mutant(
        _WEIGHTS, ("        model.load_state_dict(first)\n", "        print(load_best(model, val))\n")
    ),
    "shuffled parts": mutant(_WEIGHTS, ("        model.load_state_dict(first)\n", "")).replace(
        "GroupKFold", "ShuffleSplit"
    ),
}
