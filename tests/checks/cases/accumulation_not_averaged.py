"""Programs for accumulation-not-averaged."""

from ._programs import ACCUMULATING, FUNCTION, MANUAL, TRAINER, mutant

FAILS = {
    "trainer class": mutant(TRAINER, (" / self.every", "")),
    "helper object": mutant(ACCUMULATING, ("        loss = loss / self.config.micro_batches\n", "")),
    "counter": mutant(FUNCTION, (" / accumulation_steps", "")),
    "script": """
import torch
from torch import nn

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer.zero_grad()
for i, (x, y) in enumerate(loader):
    nn.functional.mse_loss(model(x), y).backward()
    if i % 8 == 7:
        optimizer.step()
        optimizer.zero_grad()
""",
    "functions": """
import torch

def backward(model, x, y):
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    return loss.item()

def train(model, loader, k):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, (x, y) in enumerate(loader):
        backward(model, x, y)
        if (i + 1) % k == 0:
            opt.step()
            opt.zero_grad(set_to_none=True)
""",
    "by hand in a framework": mutant(MANUAL, (" / self.every", "")),
}

SILENT = {
    "sum divided by examples later": """
import torch

def train(model, loader, k):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, (x, y) in enumerate(loader):
        torch.nn.functional.mse_loss(model(x), y, reduction="sum").backward()
        if (i + 1) % k == 0:
            optimizer.step()
            optimizer.zero_grad()
""",
    "gradients divided": """
import torch

def train(model, loader, k):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, (x, y) in enumerate(loader):
        torch.nn.functional.mse_loss(model(x), y).backward()
        if (i + 1) % k == 0:
            for p in model.parameters():
                p.grad /= k
            optimizer.step()
            optimizer.zero_grad()
""",
}
