"""Programs for average-not-updated."""

from ._programs import mutant

_SCRIPT = """
import torch
from torch.optim import swa_utils

model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
average = swa_utils.AveragedModel(model)
for epoch in range(10):
    for x, y in torch.load("data.pt"):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        average.update_parameters(model)
torch.save({"model": model.state_dict(), "average": average.state_dict()}, "last.pt")
"""
_UPDATE = "        average.update_parameters(model)\n"
_TRAINER = """
import torch
from timm.utils import ModelEmaV2

class Trainer:
    def __init__(self, model, use_ema):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters())
        self.ema = ModelEmaV2(model) if use_ema else None
        self.model_ema = ModelEmaV2(model)

    def epoch(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            torch.nn.functional.mse_loss(self.model(x), y).backward()
            self.optimizer.step()
            self.model_ema.update(self.model)

    def evaluate(self, loader):
        self.model_ema.module.eval()
        return sum(self.model_ema.module(x).sum().item() for x, _ in loader)
"""
_HANDED = """
# file: engine.py
def train_epoch(model, loader, optimizer, ema=None):
    for x, y in loader:
        optimizer.zero_grad()
        model(x, y).backward()
        optimizer.step()
        if ema is not None:
            ema.update_parameters(model)

# file: main.py
import torch
from torch.optim.swa_utils import AveragedModel

from engine import train_epoch

def main(model, loader):
    average = AveragedModel(model)
    optimizer = torch.optim.Adam(model.parameters())
    train_epoch(model, loader, optimizer, average)
    return average(next(iter(loader))[0])
"""
_STORED = """
import torch
from torch_ema import ExponentialMovingAverage

def train(model, loader):
    optimizer = torch.optim.Adam(model.parameters())
    ema = ExponentialMovingAverage(model.parameters(), decay=0.995)
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        ema.update()
    with ema.average_parameters():
        torch.save(model.state_dict(), "best.pt")
"""
SILENT = {
    "a script": _SCRIPT,
    "a trainer": _TRAINER,
    "a function that is handed it": _HANDED,
    "parameters that are stored": _STORED,
    "a hook of the optimizer": mutant(
        _SCRIPT,
        (_UPDATE, ""),
        ("for epoch", "optimizer.register_step_post_hook(lambda *_: average.update_parameters(model))\nfor epoch"),
    ),
    "by a loop over its parameters": mutant(
        _SCRIPT,
        (
            _UPDATE,
            "        for kept, new in zip(average.module.parameters(), model.parameters()):\n            kept.data.lerp_(new.data, 0.1)\n",
        ),
    ),
    "by a loop over its state": mutant(
        _SCRIPT,
        (
            _UPDATE,
            "        for kept, new in zip(average.state_dict().values(), model.state_dict().values()):\n            kept.lerp_(new, 0.1)\n",
        ),
    ),
    "read from a file": mutant(
        _SCRIPT, (_UPDATE, ""), ("for epoch", "average.load_state_dict(torch.load('average.pt'))\nfor epoch")
    ),
    "not used": mutant(_SCRIPT, (_UPDATE, ""), (', "average": average.state_dict()', "")),
    "trained by nobody": mutant(
        _SCRIPT, (_UPDATE, ""), ("        optimizer.zero_grad()\n", ""), ("        optimizer.step()\n", "")
    ),
}
FAILS = {
    "a script": mutant(_SCRIPT, (_UPDATE, "")),
    "a trainer": mutant(_TRAINER, ("            self.model_ema.update(self.model)\n", "")),
    "the function that is handed it ignores it": mutant(
        _HANDED, ("        if ema is not None:\n            ema.update_parameters(model)\n", "")
    ),
    "parameters that are stored": mutant(_STORED, ("        ema.update()\n", "")),
    "called in an evaluation": mutant(
        _SCRIPT, (_UPDATE, ""), ("torch.save({", "print(average(torch.zeros(1, 4)))\ntorch.save({")
    ),
}
