"""Programs for copied-line-differs."""

from ._programs import mutant

_TRACING = """
import torch
from torch import nn

class Loss(nn.Module):
    def forward(self, pred, batch):
        loss = torch.zeros(1)
        for student in range(pred.shape[0]):
            delta = batch[student][:, :8] + batch[student][:, 8:]
            temp = pred[student][:49].mm(delta[1:].t())
            p = temp.diagonal()
            a = ((batch[student][:, :8] - batch[student][:, 8:]).sum(1) + 1)[1:]
            loss = loss - (a * p.log()).sum()
        return loss

def train_epoch(model, loader, optimizer, loss_of):
    for batch in loader:
        loss = loss_of(model(batch), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

def test_epoch(model, loader):
    said, true = [], []
    for batch in loader:
        pred = model(batch)
        for student in range(pred.shape[0]):
            delta = batch[student][:, :8] + batch[student][:, 8:]
            temp = pred[student][:49].mm(delta[1:].t())
            p = temp.diagonal()
            a = ((batch[student][:, :8] - batch[student][:, 8:]).sum(1) + 1)[1:]
            said.append(p)
            true.append(a)
    return said, true
"""
_LOOPS = """
import torch
import torch.nn.functional as F

def train(model, loader, optimizer):
    model.train()
    for data, label in loader:
        data = data.squeeze(1).transpose(0, 1)
        data = (data - data.min()) / (data.max() - data.min())
        scores = model(data.cuda(), label.cuda())
        loss = F.cross_entropy(scores, label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

def test(model, loader):
    model.eval()
    for data, label in loader:
        data = data.squeeze(1).transpose(0, 1)
        data = (data - data.min()) / (data.max() - data.min())
        scores = model(data.cuda(), label.cuda())
        print(F.cross_entropy(scores, label))
"""
_MAIN = """
import torch

def main(model, train_loader, val_loader, optimizer, loss_of):
    for epoch in range(10):
        for x, y in train_loader:
            x = x.float().cuda() / 255.0
            out = model(x.flatten(1), y.size(0))
            loss = loss_of(out, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            pred = out.argmax(dim=2)
            residual = y - pred.float().mean(0)
        for x, y in val_loader:
            x = x.float().cuda() / 255.0
            out = model(x.flatten(1), y.size(0))
            pred = out.argmax(dim=2)
            residual = y - pred.float().mean(0)
            print(residual)
"""
_CLASS = """
import torch

class Trainer:
    def train_step(self, batch):
        image, risk = batch["image"], batch["risk"]
        features = self.net(image.to(self.device), batch["mask"].to(self.device))
        score = -self.head(features).squeeze(1)
        gap = self.limit(features) - score.detach() * self.weight
        loss = (score * risk).mean() + gap.mean()
        loss.backward()
        self.optimizer.step()

    def validation_step(self, batch):
        image, risk = batch["image"], batch["risk"]
        features = self.net(image.to(self.device), batch["mask"].to(self.device))
        score = -self.head(features).squeeze(1)
        gap = self.limit(features) - score.detach() * self.weight
        return self.index(score, risk), gap
"""
SILENT = {
    "tracing": _TRACING,
    "loops": _LOOPS,
    "main": _MAIN,
    "a class": _CLASS,
    "another number": mutant(_TRACING, ("pred[student][:49].mm(delta[1:].t())\n            p = temp.diagonal()\n            a = ((batch[student][:, :8] - batch[student][:, 8:]).sum(1) + 1)[1:]\n            said", "pred[student][:99].mm(delta[1:].t())\n            p = temp.diagonal()\n            a = ((batch[student][:, :8] - batch[student][:, 8:]).sum(1) + 1)[1:]\n            said")),
    "a count, by another name": mutant(
        _LOOPS,
        ("        optimizer.step()\n", "        optimizer.step()\n        train_right += (scores.argmax(1) == label).sum()\n"),
        ("        print(F.cross_entropy(scores, label))\n", "        val_right += (scores.argmax(1) == label).sum()\n"),
    ),
    "little in common": """
import torch

def train(model, loader, optimizer):
    for x, y in loader:
        shown = x[:, 1:]
        loss = (model(shown) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

def test(model, loader):
    for x, y in loader:
        shown = x[:, :-1]
        print(model(shown))
""",
}  # fmt: skip
_IN_TEST = "            a = ((batch[student][:, :8] - batch[student][:, 8:]).sum(1) + 1)[1:]\n            said"
FAILS = {
    "another part": mutant(_TRACING, (_IN_TEST, _IN_TEST.replace("[1:]\n", "[:-1]\n"))),
    "not turned": mutant(
        _LOOPS,
        ("    model.eval()\n    for data, label in loader:\n        data = data.squeeze(1).transpose(0, 1)", "    model.eval()\n    for data, label in loader:\n        data = data.squeeze(1)"),
    ),
    "another axis": mutant(_MAIN, ("            pred = out.argmax(dim=2)\n            residual = y - pred.float().mean(0)\n            print", "            pred = out.argmax(dim=1)\n            residual = y - pred.float().mean(0)\n            print")),
    "another scale": mutant(_MAIN, ("        for x, y in val_loader:\n            x = x.float().cuda() / 255.0", "        for x, y in val_loader:\n            x = x.float().cuda()")),
    "a difference the other way round": mutant(_MAIN, ("residual = y - pred.float().mean(0)\n            print", "residual = pred.float().mean(0) - y\n            print")),
    "a count, by another name": mutant(
        _LOOPS,
        ("        optimizer.step()\n", "        optimizer.step()\n        train_right += (scores.argmax(1) == label).sum()\n"),
        ("        print(F.cross_entropy(scores, label))\n", "        val_right += (scores.argmax(0) == label).sum()\n"),
    ),
    "another sign": mutant(
        _CLASS,
        ("        score = -self.head(features).squeeze(1)\n        gap = self.limit(features) - score.detach() * self.weight\n        return", "        score = self.head(features).squeeze(1)\n        gap = self.limit(features) - score.detach() * self.weight\n        return"),
    ),
}  # fmt: skip

SILENT["the same axis, counted otherwise"] = """
import torch
import torch.nn.functional as F

def train(model, loader, optimizer):
    for x, y in loader:
        scores = model(x.float().flatten(1), y.shape[0])
        shown = x.float().flatten(1).mean(1) + y.float()
        loss = F.cross_entropy(scores, y) / 4
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        pred = scores.argmax(dim=1)
        accuracy = (pred == y).float().mean() * 100

def validate(model, loader):
    for x, y in loader:
        scores = model(x.float().flatten(1), y.shape[0])
        shown = x.float().flatten(1).mean(1) + y.float()
        loss = F.cross_entropy(scores, y)
        pred = scores.argmax(dim=-1)
        accuracy = (pred == y).float().mean()
"""
