"""Programs for schedule-not-stepped."""

from ._programs import mutant

_LOOP = """
import torch
from torch import nn
from torch.optim import lr_scheduler


def train(model, loader, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = lr_scheduler.StepLR(optimizer, step_size=10)
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
        scheduler.step()
        print(epoch, scheduler.get_last_lr())
"""
_TRAINER = """
import torch
from torch import nn


class Trainer:
    def __init__(self, model, epochs):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters())
        self.lr_scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, epochs)

    def train_step(self, x, y):
        self.optimizer.zero_grad()
        nn.functional.mse_loss(self.model(x), y).backward()
        self.optimizer.step()

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            for x, y in loader:
                self.train_step(x, y)
            self.lr_scheduler.step()
            torch.save({"rate": self.lr_scheduler.state_dict()}, "last.pt")
"""
_HANDED = """
# file: engine.py
from torch import nn


def run(model, loader, optimizer, scheduler=None):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    if scheduler is not None:
        scheduler.step()

# file: main.py
import torch
from transformers import get_linear_schedule_with_warmup

from engine import run


def main(model, loader):
    optimizer = torch.optim.AdamW(model.parameters())
    schedule = get_linear_schedule_with_warmup(optimizer, 100, 1000)
    for epoch in range(10):
        run(model, loader, optimizer, schedule)
"""
_KEPT = """
# file: trainer.py
from torch import nn


class Trainer:
    def __init__(self, model, optimizer, schedule):
        self.model = model
        self.optimizer = optimizer
        self.schedule = schedule

    def fit(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            nn.functional.mse_loss(self.model(x), y).backward()
            self.optimizer.step()
            self.schedule.step()

# file: main.py
import torch
from torch.optim.lr_scheduler import OneCycleLR

from trainer import Trainer


def main(model, loader):
    optimizer = torch.optim.AdamW(model.parameters())
    one_cycle = OneCycleLR(optimizer, max_lr=0.1, total_steps=len(loader))
    Trainer(model, optimizer, one_cycle).fit(loader)
"""
_SCRIPT = """
import torch
from torch import nn

model = nn.Linear(4, 2)
optimizer = torch.optim.Adam(model.parameters())
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, "min")


def epoch():
    total = 0.0
    for _ in range(100):
        loss = model(torch.randn(8, 4)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total


for _ in range(10):
    scheduler.step(epoch())
"""
_NOTHING = mutant(_LOOP, ("        scheduler.step()\n", ""))
SILENT = {
    "by epoch": _LOOP,
    "in a class": _TRAINER,
    "a function that is handed it": _HANDED,
    "kept by another object": _KEPT,
    "a script, stepped in its loop": _SCRIPT,
    "in a lambda": mutant(_LOOP, ("        scheduler.step()\n", "        (lambda: scheduler.step())()\n")),
    "in a function inside": mutant(
        _LOOP,
        ("    for epoch in", "    def decay():\n        scheduler.step()\n\n    for epoch in"),
        ("        scheduler.step()\n        print", "        decay()\n        print"),
    ),
    "in a list": mutant(
        _LOOP,
        ("    for epoch in", "    schedules = [scheduler]\n    for epoch in"),
        ("        scheduler.step()\n", "        for one in schedules:\n            one.step()\n"),
    ),
    "inside of another schedule": mutant(
        _LOOP,
        ("    for epoch in", "    warm = lr_scheduler.ChainedScheduler([scheduler])\n    for epoch in"),
        ("        scheduler.step()\n", "        warm.step()\n"),
    ),
    "given to a library": mutant(
        _LOOP,
        ("import torch\n", "import torch\nfrom accelerate import Accelerator\n"),
        (
            "    for epoch in",
            "    model, optimizer, scheduler = Accelerator().prepare(model, optimizer, scheduler)\n    for epoch in",
        ),
        ("        scheduler.step()\n", ""),
    ),
    "given back to Lightning": """
import lightning as L
import torch


class Model(L.LightningModule):
    def training_step(self, batch, batch_idx):
        return self.net(batch).mean()

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "epoch"}}
""",
    "asked for by its name": mutant(_TRAINER, ("self.lr_scheduler.step()", "getattr(self, 'lr_scheduler').step()")),
    "a rate that is set by hand": mutant(
        _NOTHING,
        (
            "            optimizer.step()\n",
            "            optimizer.step()\n        optimizer.param_groups[0]['lr'] *= 0.9\n",
        ),
    ),
    "a factor of one": mutant(_NOTHING, ("step_size=10)", "step_size=10, gamma=1.0)")),
    "an optimizer that never steps": mutant(
        _NOTHING, ("            optimizer.zero_grad()\n", ""), ("            optimizer.step()\n", "")
    ),
    "chosen by a setting, stepped by any": mutant(
        _LOOP,
        (
            "    scheduler = lr_scheduler.StepLR(optimizer, step_size=10)\n",
            "    if epochs > 10:\n        scheduler = lr_scheduler.StepLR(optimizer, step_size=10)\n"
            "    else:\n        scheduler = lr_scheduler.ExponentialLR(optimizer, 0.9)\n",
        ),
    ),
}
FAILS = {
    "by epoch": _NOTHING,
    "in a class": mutant(_TRAINER, ("            self.lr_scheduler.step()\n", "")),
    "the function that is handed it ignores it": mutant(
        _HANDED, ("    if scheduler is not None:\n        scheduler.step()\n", "    print(scheduler is None)\n")
    ),
    "the object that keeps it ignores it": mutant(_KEPT, ("            self.schedule.step()\n", "")),
    "a script": mutant(_SCRIPT, ("    scheduler.step(epoch())", "    print(epoch())")),
    "left out by a comment": mutant(_LOOP, ("        scheduler.step()\n", "        # scheduler.step()\n")),
    "under a setting": mutant(
        _NOTHING,
        (
            "    scheduler = lr_scheduler.StepLR(optimizer, step_size=10)\n",
            "    scheduler = None\n    if epochs > 10:\n        scheduler = lr_scheduler.StepLR(optimizer, step_size=10)\n",
        ),
        ("        print(epoch, scheduler.get_last_lr())\n", "        print(epoch)\n"),
    ),
}
SILENT["another schedule of the same optimizer steps"] = mutant(
    _NOTHING,
    ("    scheduler = ", "    plateau = lr_scheduler.ReduceLROnPlateau(optimizer)\n    scheduler = "),
    ("        print(epoch, scheduler.get_last_lr())\n", "        plateau.step(epoch)\n"),
)
FAILS["another schedule that nothing steps either"] = mutant(
    _NOTHING, ("    scheduler = ", "    plateau = lr_scheduler.ReduceLROnPlateau(optimizer)\n    scheduler = ")
)
