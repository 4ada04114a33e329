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
    "a function weighs its parts": """
# file: loss.py
import torch.nn.functional as F

def loss_of(logits, y, batch_size):
    weight = len(y) / 2
    return F.cross_entropy(logits, y) + 0.5 * logits.pow(2).mean() * weight
# file: train.py
import torch
from loss import loss_of

def train(model, loader, cfg):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    seen, loss = 0, 0
    for x, y in loader:
        loss += loss_of(model(x), y, cfg.batch_size)
        seen += len(x)
        loss.backward()
        loss = 0
        if seen % cfg.batch_size == 0:
            optimizer.step()
            optimizer.zero_grad()
""",
}

SILENT = {
    "a function divides by the batch size that the step waits for": """
# file: loss.py
import torch.nn.functional as F

def loss_of(logits, y, batch_size):
    loss = F.cross_entropy(logits, y, reduction="none").sum(1)
    total = loss.sum(0) / batch_size
    return total
# file: train.py
import torch
from loss import loss_of

def train(model, loader, cfg):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    seen, loss = 0, 0
    for x, y in loader:
        loss += loss_of(model(x), y, cfg.batch_size)
        seen += len(x)
        loss.backward()
        loss = 0
        if seen % cfg.batch_size == 0:
            optimizer.step()
            optimizer.zero_grad()
""",
    "a function sums": """
# file: loss.py
import torch.nn.functional as F

def loss_of(logits, y, batch_size):
    return F.cross_entropy(logits, y, reduction="sum")
# file: train.py
import torch
from loss import loss_of

def train(model, loader, cfg):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    seen, loss = 0, 0
    for x, y in loader:
        loss += loss_of(model(x), y, cfg.batch_size)
        seen += len(x)
        loss.backward()
        loss = 0
        if seen % cfg.batch_size == 0:
            optimizer.step()
            optimizer.zero_grad()
""",
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
SILENT["cleared in each round, collected by hand"] = """
import torch

def train(model, loader, k):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    kept = []
    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        kept.append([p.grad.clone() for p in model.parameters()])
        if (i + 1) % k == 0:
            optimizer.zero_grad()
            for p, several in zip(model.parameters(), zip(*kept)):
                p.grad = torch.stack(several).median(0).values
            optimizer.step()
            kept = []
"""
