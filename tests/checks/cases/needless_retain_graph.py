"""Programs for needless-retain-graph."""

from ._programs import CLOSURES, SCRIPT, mutant

_CLASS = """
import torch

class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters())

    def step(self, x):
        loss = self.model(x).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def fit(self, loader):
        for x in loader:
            self.step(x)
"""

FAILS = {
    "script": mutant(SCRIPT, ("loss.backward()", "loss.backward(retain_graph=True)")),
    "closure": mutant(CLOSURES, ("loss.backward()", "loss.backward(retain_graph=True)")),
    "class": mutant(_CLASS, ("loss.backward()", "loss.backward(retain_graph=True)")),
    "recurrent": """
import torch

def train(rnn, loader):
    optimizer = torch.optim.SGD(rnn.parameters(), lr=0.1)
    state = None
    for x, y in loader:
        out, state = rnn(x, state)
        loss = (out - y).pow(2).mean()
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
""",
    "helper in another file": """
# file: update.py
def update(optimizer, loss):
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
# file: train.py
import torch
from update import update

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        update(optimizer, model(x).mean())
""",
}

SILENT = {
    "the losses of one forward pass, one after the other": """
import torch

def step(optimizer, model, batches):
    for x in batches:
        losses = model(x).mean(0)
        optimizer.zero_grad()
        for i, loss in enumerate(losses):
            loss.backward(retain_graph=True)
        optimizer.step()
""",
    "class": _CLASS,
    "a penalty on the gradient": """
import torch

def train(critic, loader, optimizer):
    for x in loader:
        x.requires_grad_()
        score = critic(x).mean()
        score.backward(retain_graph=True)
        slope = torch.autograd.grad(score, x, create_graph=True)[0]
        slope.norm().backward()
        optimizer.step()
        optimizer.zero_grad()
""",
    "two losses": """
def train(model, opt_a, opt_b, loader):
    for x in loader:
        out = model(x)
        opt_a.zero_grad()
        out.mean().backward(retain_graph=True)
        opt_a.step()
        opt_b.zero_grad()
        out.std().backward()
        opt_b.step()
""",
}
