"""Programs for bypassed-grad-scaler."""

from ._programs import CALLBACKS, CLOSURES, ENGINE, SCRIPT, TRAINER, mutant

FAILS = {
    "script": mutant(
        SCRIPT,
        ("\nfor epoch", "scaler = torch.amp.GradScaler()\nfor epoch"),
        ("        loss.backward()\n", "        scaler.scale(loss).backward()\n"),
    ),
    "never updated": mutant(TRAINER, ("        self.scaler.update()\n", "")),
    "engine, the plain step": mutant(
        ENGINE,
        ("            scaler.unscale_(optimizer)\n", ""),
        ("            scaler.step(optimizer)\n", "            optimizer.step()\n"),
    ),
    "engine, never updated": mutant(ENGINE, ("            scaler.update()\n", "")),
    "loop object": mutant(
        CALLBACKS,
        ("        self.scores = []\n", "        self.scores = []\n        self.scaler = torch.cuda.amp.GradScaler()\n"),
        ("        loss.backward()\n", "        self.scaler.scale(loss).backward()\n"),
        ("# file: loop.py\n", "# file: loop.py\nimport torch\n"),
    ),
    "closure": mutant(
        CLOSURES,
        ("    def step(x, y):\n", "    scaler = torch.cuda.amp.GradScaler()\n    def step(x, y):\n"),
        ("        loss.backward()\n", "        scaler.scale(loss).backward()\n"),
    ),
}

SILENT = {
    "unscaled by hand": """
import torch

def fit(model, loader):
    optimizer = torch.optim.Adam(model.parameters())
    scaler = torch.cuda.amp.GradScaler()
    for x in loader:
        optimizer.zero_grad()
        scaler.scale(model(x).mean()).backward()
        scaler.unscale_(optimizer)
        optimizer.step()
        scaler.update()
""",
    "a scaler of one's own": """
import torch

class Scaler:
    def scale(self, loss):
        return loss

def fit(model, loader):
    optimizer = torch.optim.Adam(model.parameters())
    scaler = Scaler()
    for x in loader:
        optimizer.zero_grad()
        scaler.scale(model(x).mean()).backward()
        optimizer.step()
""",
    "manual unscale": """
import torch
def train(model, loader):
    opt = torch.optim.SGD(model.parameters(), lr=.1)
    scaler = torch.cuda.amp.GradScaler()
    for x in loader:
        opt.zero_grad()
        scaler.scale(model(x).mean()).backward()
        inv = 1. / scaler.get_scale()
        for p in model.parameters():
            p.grad.mul_(inv)
        opt.step()
        scaler.update()
""",
    "a second loss that is not scaled, with its own optimizer": """
import torch
def train(a, b, loader):
    first = torch.optim.Adam(a.parameters())
    second = torch.optim.SGD(b.parameters(), lr=0.1)
    scaler = torch.cuda.amp.GradScaler()
    for x in loader:
        first.zero_grad()
        second.zero_grad()
        b(x).mean().backward()
        scaler.scale(a(x).mean()).backward()
        second.step()
        scaler.step(first)
        scaler.update()
""",
}
