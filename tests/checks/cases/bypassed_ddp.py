"""Programs for bypassed-ddp."""

from ._programs import ENGINE, mutant

_FUNCTION = """
import torch
from torch.nn.parallel import DistributedDataParallel

def train(rank, net, loader):
    net = net.to(rank)
    model = DistributedDataParallel(net, device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        out = model(x)
        loss = torch.nn.functional.mse_loss(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
_CLASS = """
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Trainer:
    def __init__(self, model, rank):
        self.raw = model
        self.ddp = DDP(self.raw, device_ids=[rank])
        self.optimizer = torch.optim.SGD(self.ddp.parameters(), lr=0.1)

    def loss(self, x, y):
        return torch.nn.functional.cross_entropy(self.ddp(x), y)

    def step(self, x, y):
        out = self.ddp(x)
        loss = torch.nn.functional.cross_entropy(out, y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def validate(self, x):
        with torch.no_grad():
            return self.raw(x)
"""

FAILS = {
    "through .module": mutant(_FUNCTION, ("out = model(x)", "out = model.module(x)")),
    "through .module.forward": mutant(_FUNCTION, ("out = model(x)", "out = model.module.forward(x)")),
    "the inner name": mutant(_FUNCTION, ("out = model(x)", "out = net(x)")),
    "attribute of before": mutant(
        _CLASS,
        ("        out = self.ddp(x)", "        out = self.raw(x)"),
        ("cross_entropy(self.ddp(x), y)", "cross_entropy(self.raw(x), y)"),
    ),
    "module of an attribute": mutant(
        _CLASS,
        ("        out = self.ddp(x)", "        out = self.ddp.module(x)"),
        ("cross_entropy(self.ddp(x), y)", "cross_entropy(self.ddp.module(x), y)"),
    ),
    "script": """
import torch
import torch.nn as nn
from data import loader

model = nn.Linear(2, 2).cuda()
model = nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in loader:
    with torch.autocast("cuda"):
        prediction = model.module(x)
        objective = prediction.square().mean()
    optimizer.zero_grad()
    objective.backward()
    optimizer.step()
""",
}

SILENT = {
    "function": _FUNCTION,
    "class": _CLASS,
    "both are called": mutant(_FUNCTION, ("    optimizer = ", "    net(torch.zeros(1, 2))\n    optimizer = ")),
    "attributes and saving": mutant(
        _FUNCTION,
        (
            "        optimizer.step()\n",
            "        optimizer.step()\n        torch.save(model.module.state_dict(), 'x.pt')\n",
        ),
        ("        out = model(x)\n", "        width = model.module.width\n        out = model(x) * width\n"),
    ),
    "the name is the wrapper later": """
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def train(model, loader, optimizer):
    wrapped = DDP(model)
    model = wrapped
    for x in loader:
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
""",
    "engine": mutant(ENGINE, ("model = torchvision.models.resnet18()", "model = torchvision.models.resnet34()")),
}
