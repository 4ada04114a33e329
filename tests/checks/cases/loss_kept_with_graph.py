"""Programs for loss-kept-with-graph."""

from ._programs import SCRIPT, TRAINER, mutant

_ENGINE = """
# file: engine.py
import torch

def epoch(model, loader, optimizer):
    losses = []
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses).mean()
# file: main.py
import torch
from engine import epoch

def main(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i in range(3):
        print(epoch(model, loader, optimizer))
"""
_ACCELERATE = """
from accelerate import Accelerator

def train(model, optimizer, loader):
    accelerator = Accelerator()
    total = 0
    for batch in loader:
        outputs = model(**batch)
        loss = outputs.loss
        total = total + loss.detach().float()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return total / len(loader)
"""

FAILS = {
    "script": mutant(SCRIPT, ("running += loss.item()", "running += loss")),
    "history of an object": mutant(
        TRAINER,
        ("self.losses.append(loss.item())", "self.losses.append(loss)"),
        ("self.scaler.scale(loss).backward()", "loss.backward()"),
    ),
    "list in another file": mutant(_ENGINE, ("loss.detach()", "loss")),
    "written out": mutant(_ACCELERATE, ("loss.detach().float()", "loss")),
    "behind a scaler": mutant(TRAINER, ("self.losses.append(loss.item())", "self.losses.append(loss)")),
    "divided": mutant(
        SCRIPT, ("running += loss.item()", "running += loss"), ("loss.backward()", "(loss / 4).backward()")
    ),
    "by accelerate": mutant(
        _ACCELERATE, ("loss.detach().float()", "loss"), ("loss.backward()", "accelerator.backward(loss)")
    ),
    "weighted": mutant(SCRIPT, ("running += loss.item()", "running += loss * len(x)")),
}

SILENT = {
    "a method that every class below has of its own": """
import torch

class Base:
    def __init__(self, net, loader):
        self.net = net
        self.loader = loader
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def train(self):
        running = 0
        for x, y in self.loader:
            loss = torch.nn.functional.mse_loss(self.net(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            running += loss
        return running

class Regression(Base):
    def train(self):
        for x, y in self.loader:
            loss = torch.nn.functional.mse_loss(self.net(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

def main(net, loader):
    Regression(net, loader).train()
""",
    "a few rounds inside one update of an agent": """
import torch

class Agents:
    def __init__(self, nets):
        self.nets = nets
        self.optimizers = [torch.optim.Adam(net.parameters()) for net in nets]

    def update_policy(self, batch):
        losses = []
        for agent in range(len(self.nets)):
            loss = self.nets[agent](batch).mean()
            self.optimizers[agent].zero_grad()
            loss.backward()
            self.optimizers[agent].step()
            losses.append(loss)
        return losses
""",
    "detached": _ENGINE,
    "written out": _ACCELERATE,
    "terms of one loss": """
def train(model, loader, optimizer):
    for x in loader:
        total = 0
        for part in model(x):
            loss = part.mean()
            loss.backward(retain_graph=True)
            total += loss
        optimizer.step()
        optimizer.zero_grad()
""",
    "the sum goes backward": """
def train(model, loader, optimizer):
    total = 0
    for x in loader:
        loss = model(x).mean()
        loss.backward(retain_graph=True)
        total += loss
    total.backward()
    optimizer.step()
    optimizer.zero_grad()
""",
    "made a number in between": """
def train(model, loader, optimizer):
    total = 0.0
    for x in loader:
        loss = model(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss = loss.item()
        total += loss
    return total
""",
    "the last few": """
from collections import deque

def train(model, loader, optimizer):
    recent = deque(maxlen=10)
    for x in loader:
        loss = model(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        recent.append(loss)
""",
    "a few rounds of one player inside a step of the other": """
import torch

def train(generator, critic, loader, opt_g, opt_d):
    for real, noise in loader:
        opt_g.zero_grad()
        critic(generator(noise)).mean().backward()
        opt_g.step()
        total = 0.0
        fake = generator(noise).detach()
        for _ in range(5):
            opt_d.zero_grad()
            loss = critic(real).mean() - critic(fake).mean()
            loss.backward()
            opt_d.step()
            total += loss
        print(total.item() / 5)
""",
    "inner loop few steps of an attack, returned last": """
import torch
def attack(x, y, model):
    d = torch.zeros_like(x, requires_grad=True)
    opt = torch.optim.SGD([d], lr=.1)
    losses = []
    for _ in range(10):
        loss = -torch.nn.functional.cross_entropy(model(x + d), y)
        opt.zero_grad(); loss.backward(); opt.step()
        losses.append(loss)
    return d.detach(), torch.stack(losses)
""",
    "one round for each player": """
import torch
def step(players, opts, x):
    total = 0
    for p, o in zip(players, opts):
        loss = p(x).mean()
        o.zero_grad(); loss.backward(); o.step()
        total += loss
    return total.item()
""",
    "emptied by its slice": """
import torch
def fit(model, loader, optimizer):
    window = []
    for i, x in enumerate(loader):
        loss = model(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        window.append(loss)
        if i % 10 == 0:
            print(torch.stack(window).mean().item())
            window[:] = []
""",
    "another library": """
from mxnet import autograd, gluon
def train(net, loader, loss_of):
    trainer = gluon.Trainer(net.collect_params(), "sgd")
    total = 0.0
    for x, y in loader:
        with autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(x.shape[0])
        total += loss
    return total
""",
    "a history of its own that keeps numbers": """
import torch
class History(list):
    def append(self, loss):
        super().append(float(loss))
class Meter:
    def __init__(self):
        self.sum = 0.0
    def __iadd__(self, loss):
        self.sum += loss.item()
        return self
def fit(model, loader, optimizer):
    history, total = History(), Meter()
    for x in loader:
        loss = model(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss)
        total += loss
    return history, total
""",
    "a few batches": """
import torch
from itertools import islice
def probe(model, loader, optimizer):
    losses = []
    for x in islice(loader, 5):
        loss = model(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss)
    return torch.stack(losses)
""",
}
