"""Programs for logits-at-half."""

from ._programs import mutant

_LOOP = """
import torch
from torch import nn

def train(model, loader, optimizer):
    criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([2.0]))
    right = 0
    for x, y in loader:
        output = model(x)
        loss = criterion(output[:, 0], y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        predicted = (output[:, 0] > 0).long()
        right += (predicted == y).sum().item()
    return right
"""
_CLASS = """
import torch
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        return self.head(self.body(x)).squeeze(1)

class Trainer:
    def __init__(self, loader, held_out):
        self.net, self.loader, self.held_out = Net(), loader, held_out
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def epoch(self):
        self.net.train()
        for x, y in self.loader:
            self.optimizer.zero_grad()
            F.binary_cross_entropy_with_logits(self.net(x), y).backward()
            self.optimizer.step()

    def score(self):
        self.net.eval()
        right = []
        with torch.no_grad():
            for x, y in self.held_out:
                scores = self.net(x)
                right.append((scores.cpu().numpy() > 0.0) == y.numpy())
        return right

def main(loader, held_out):
    trainer = Trainer(loader, held_out)
    trainer.epoch()
    print(trainer.score())
"""
_STEP = """
import lightning
import torch
from torch import nn

class Module(lightning.LightningModule):
    def __init__(self, net):
        super().__init__()
        self.net, self.loss = net, nn.BCEWithLogitsLoss()

    def training_step(self, batch, place):
        x, y = batch
        logits = self.net(x)
        loss = self.loss(logits, y)
        self.log("accuracy", (torch.gt(logits.detach(), 0) == y).float().mean())
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())
"""
_ROUNDED = """
import torch
from torch.nn import functional as F

def step(model, optimizer, x, y):
    logits = model(x)
    loss = F.binary_cross_entropy_with_logits(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    answers = torch.round(torch.sigmoid(logits))
    return (answers == y).float().mean()
"""
_MASK = """
import torch
from torch import nn

def dice(net, criterion, x, mask):
    out = net(x)
    loss = criterion(out, mask)
    loss.backward()
    found = torch.where(out.sigmoid() >= 0.5, 1, 0)
    return 2 * (found * mask).sum() / (found.sum() + mask.sum())

def main(net, loader):
    criterion = nn.BCEWithLogitsLoss()
    for x, mask in loader:
        print(dice(net, criterion, x, mask))
"""
FAILS = {
    "loop": mutant(_LOOP, ("output[:, 0] > 0)", "output[:, 0] > 0.5)")),
    "class": mutant(_CLASS, ("numpy() > 0.0)", "numpy() > 0.5)")),
    "step": mutant(_STEP, ("torch.gt(logits.detach(), 0)", "torch.gt(logits.detach(), 0.5)")),
    "rounded": mutant(_ROUNDED, ("torch.round(torch.sigmoid(logits))", "logits.round()")),
    "mask": mutant(_MASK, ("out.sigmoid() >= 0.5", "out >= 0.5")),
}
SILENT = {
    "loop": _LOOP,
    "class": _CLASS,
    "step": _STEP,
    "rounded": _ROUNDED,
    "mask": _MASK,
    "squashed under the same name": mutant(
        _LOOP,
        (
            "        predicted = (output[:, 0] > 0)",
            "        output = output.sigmoid()\n        predicted = (output[:, 0] > 0.5)",
        ),
    ),
    "a regression is compared with a half": """
import torch

def step(x, y):
    net = torch.nn.Linear(4, 1)
    out = net(x)
    torch.nn.functional.mse_loss(out, y).backward()
    return (out > 0.5) == y
""",
    "the scores of one network, and the answers of another": """
import torch
from torch import nn

def step(x, y, optimizer):
    judge, gate = nn.Linear(4, 1), nn.Linear(4, 1)
    nn.functional.binary_cross_entropy_with_logits(judge(x), y).backward()
    optimizer.step()
    return x[gate(x)[:, 0] > 0.5]
""",
}
