"""Programs for seeded-after-model."""

from ._programs import mutant

_SCRIPT = """
import torch
from torch import nn
from net import Net

torch.manual_seed(7)
criterion = nn.CrossEntropyLoss()
model = Net(8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def train(loader):
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
# file: net.py
from torch import nn

class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, 2)

    def forward(self, x):
        return self.fc(x)
"""
_MAIN = """
import random
import numpy as np
import torch
from torch import nn

def set_all_seeds(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)

def main(args, loader):
    set_all_seeds(args.seed)
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2)).to(args.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
"""
_LIGHTNING = """
import pytorch_lightning as pl
from torch import nn

class Classifier(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)

    def training_step(self, batch, i):
        return nn.functional.cross_entropy(self.fc(batch[0]), batch[1])

def main(args, data):
    if args.seed is not None:
        pl.seed_everything(args.seed)
    model = Classifier()
    trainer = pl.Trainer(max_epochs=3)
    trainer.fit(model, data)
"""
_SEED = "    set_all_seeds(args.seed)\n"
_STEP = "    for epoch in range(args.epochs):\n"
_LATE = mutant(_MAIN, (_SEED, ""), (_STEP, f"{_SEED}{_STEP}"))

FAILS = {
    "a script": mutant(_SCRIPT, ("torch.manual_seed(7)\n", ""), ("lr=0.1)\n", "lr=0.1)\ntorch.manual_seed(7)\n")),
    "a function that sets all seeds": _LATE,
    "Lightning": mutant(
        _LIGHTNING,
        (
            "    if args.seed is not None:\n        pl.seed_everything(args.seed)\n    model = Classifier()\n",
            "    model = Classifier()\n    if args.seed is not None:\n        pl.seed_everything(args.seed)\n",
        ),
    ),
    "a layer": mutant(
        _LATE, ("nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2)).to(args.device)", "nn.Linear(8, 2)")
    ),
    "set by its own name": mutant(
        _LATE, (_SEED, "    torch.manual_seed(args.seed)\n"), ("    torch.manual_seed(seed)\n", "")
    ),
}

SILENT = {
    "first": _SCRIPT,
    "first of all": _MAIN,
    "first, with Lightning": _LIGHTNING,
    "a loss draws nothing": mutant(
        _SCRIPT, ("torch.manual_seed(7)\n", ""), ("Loss()\n", "Loss()\ntorch.manual_seed(7)\n")
    ),
    "a second seed, for the order": mutant(_MAIN, (_STEP, f"    torch.manual_seed(args.seed + 1)\n{_STEP}")),
    "weights are loaded": mutant(_LATE, (_SEED, f'    model.load_state_dict(torch.load("base.pt"))\n{_SEED}')),
    "a generator of its own": mutant(_LATE, (_SEED, "    generator = torch.Generator().manual_seed(3)\n")),
    "for a while": mutant(_LATE, (_SEED, "    with torch.random.fork_rng():\n        torch.manual_seed(3)\n")),
    "only where the model is tested": mutant(
        _LATE,
        (
            f"{_SEED}{_STEP}",
            f"    if args.test:\n    {_SEED}        print(model(next(iter(loader))))\n        return\n{_STEP}",
        ),
    ),
    "weights are loaded wherever it is set": mutant(
        _LATE,
        (
            f"{_SEED}{_STEP}",
            f"    if args.resume:\n    {_SEED}        epoch = load_model(model, optimizer)\n{_STEP}",
        ),
    ),
}
FAILS["weights are loaded by another option"] = mutant(
    _LATE, (_SEED, f'    if args.resume:\n        model.load_state_dict(torch.load("base.pt"))\n{_SEED}')
)
FAILS["where the model is trained"] = mutant(
    _LATE,
    (
        f"{_SEED}{_STEP}",
        f"    if args.test:\n        print(model(next(iter(loader))))\n        return\n    if args.seed:\n    {_SEED}{_STEP}",
    ),
)
