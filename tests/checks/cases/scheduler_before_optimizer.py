"""Programs for scheduler-before-optimizer."""

from ._programs import ACCELERATE, CALLBACKS, CLOSURES, ENGINE, SCRIPT, TRAINER, mutant

FAILS = {
    "script": mutant(
        SCRIPT, ("    scheduler.step()\n", ""), ("    model.train()\n", "    scheduler.step()\n    model.train()\n")
    ),
    "trainer class": mutant(
        TRAINER,
        (
            "            self.train_epoch()\n            self.scheduler.step()",
            "            self.scheduler.step()\n            self.train_epoch()",
        ),
    ),
    "callback": mutant(
        CALLBACKS,
        ("        self.schedule.after_step(self)\n", ""),
        (
            "        self.optimizer.zero_grad()\n",
            "        self.schedule.after_step(self)\n        self.optimizer.zero_grad()\n",
        ),
    ),
    "closure": mutant(
        CLOSURES,
        ("        sched.step()\n", ""),
        ("        for x, y in loader:\n", "        sched.step()\n        for x, y in loader:\n"),
    ),
    "engine": mutant(
        ENGINE,
        ("        lr_scheduler.step()\n", ""),
        ("        optimizer.zero_grad()\n", "        lr_scheduler.step()\n        optimizer.zero_grad()\n"),
    ),
    "schedule from a function": """
import torch
from transformers import get_linear_schedule_with_warmup

def train(model, loader, total):
    optimizer = torch.optim.AdamW(model.parameters())
    scheduler = get_linear_schedule_with_warmup(optimizer, 100, total)
    for batch in loader:
        scheduler.step()
        optimizer.zero_grad()
        model(**batch).loss.backward()
        optimizer.step()
""",
    "accelerate": mutant(
        ACCELERATE,
        ("                scheduler.step()\n", ""),
        (
            "                loss = model(batch).loss\n",
            "                scheduler.step()\n                loss = model(batch).loss\n",
        ),
    ),
}

SILENT = {
    "told the epoch": """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 30)
    for epoch in range(90):
        scheduler.step(epoch)
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
""",
    "not in the first epoch": """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 30)
    for epoch in range(90):
        if epoch > 0:
            scheduler.step()
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
""",
    "a schedule of one's own": """
import torch

class Warmup:
    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.n = 0

    def step(self):
        self.n += 1
        self.optimizer.param_groups[0]["lr"] = 0.1 / self.n

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = Warmup(optimizer)
    for x in loader:
        scheduler.step()
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
""",
    "one step before all training, in a method": """
import torch.optim.lr_scheduler as lr_scheduler
from torch import optim

class Runner:
    def __init__(self, model):
        self.model = model

    def fit(self, loader, lr, epochs, every):
        optimizer = optim.Adam(self.model.parameters(), lr=lr)
        scheduler = lr_scheduler.ExponentialLR(optimizer, 0.9)
        scheduler.step()
        done = 0
        for epoch in range(epochs):
            for batch in loader:
                done += 1
                self.model.zero_grad()
                loss = self.model(batch)
                loss.backward()
                optimizer.step()
                if done % every == 0:
                    scheduler.step()
""",
    "one step before all training, in the script": """
import torch

model = torch.nn.Linear(2, 2)
optimizer = torch.optim.Adam(model.parameters())
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
scheduler.step()

def train(loader):
    for epoch in range(10):
        for x in loader:
            model.zero_grad()
            model(x).mean().backward()
            optimizer.step()
        scheduler.step()

train([])
""",
    "stands one before the first value": """
import torch
def train(model, loader, start, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    scheduler.last_epoch = start - 1
    for epoch in range(start, epochs):
        scheduler.step()
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
""",
    "made with a last epoch": """
import torch
def run(model, loader, start, epochs):
    optimizer = torch.optim.Adam([{"params": model.parameters(), "initial_lr": 0.1}])
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10, last_epoch=start - 2)
    for epoch in range(start, epochs):
        scheduler.step()
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
""",
}
