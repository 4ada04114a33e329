"""Programs for eval-not-restored."""

from ._programs import ACCELERATE, CALLBACKS, CLOSURES, ENGINE, SCRIPT, TRAINER, mutant

FAILS = {
    "script": mutant(
        SCRIPT, ("    model.train()\n    running", "    running"), ("\nfor epoch", "model.train()\nfor epoch")
    ),
    "trainer class": mutant(
        TRAINER,
        ("        self.model.train()\n", ""),
        ("    def fit(self):\n", "    def fit(self):\n        self.model.train()\n"),
    ),
    "callback": mutant(CALLBACKS, ("        loop.model.train()\n", "")),
    "closure": mutant(CLOSURES, ("        model.train(was)\n", "")),
    "engine": mutant(ENGINE, ("    model.train()\n", "")),
    "accelerate": mutant(ACCELERATE, ("        model.train()\n", "")),
    "every few batches, in a helper module": """
# file: evaluation.py
import torch

def accuracy(net, loader):
    net.eval()
    with torch.no_grad():
        return sum((net(x).argmax(1) == y).sum().item() for x, y in loader)
# file: train.py
import torch
from torch import nn
from evaluation import accuracy

def main(loader, val_loader):
    net = nn.Sequential(nn.Linear(2, 2), nn.Dropout())
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    net.train()
    for i, (x, y) in enumerate(loader):
        opt.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
        if i % 100 == 0:
            print(accuracy(net, val_loader))
""",
}

SILENT = {
    "teacher and average": """
import copy
import torch
from torch import nn

def train(loader):
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout())
    teacher = nn.Sequential(nn.Linear(2, 2), nn.Dropout())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        teacher.eval()
        with torch.no_grad():
            target = teacher(x)
        optimizer.zero_grad()
        (model(x) - target).pow(2).mean().backward()
        optimizer.step()
""",
    "wrapped in between": """
import torch
from torch import nn

def train(model, loader, val_loader, evaluate):
    ddp = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
    for epoch in range(3):
        ddp.train()
        for x in loader:
            optimizer.zero_grad()
            ddp(x).mean().backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            evaluate(model, val_loader)
""",
    "trained in evaluation mode on purpose": """
import torch

def finetune(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        model.eval()
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
""",
    "evaluated after training": """
import torch

def run(model, loader, val_loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        return [model(x) for x in val_loader]
""",
    "a method of one's own switches": """
import torch
from torch import nn

class Agent:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(2, 2), nn.Dropout())
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def mode(self, training):
        self.net.train(training)

    def learn(self, loader):
        for x in loader:
            self.mode(True)
            self.optimizer.zero_grad()
            self.net(x).mean().backward()
            self.optimizer.step()
            self.net.eval()
            with torch.no_grad():
                self.net(x)
""",
    "evaluates in the last epoch of each task": """
import torch
import torch.nn.functional as F
from torch import nn

def train(tasks, tests, epochs):
    model = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for loader in tasks:
        model = model.train()
        for epoch in range(epochs):
            for x, y in loader:
                loss = F.cross_entropy(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            with torch.no_grad():
                if epoch == epochs - 1:
                    model = model.eval()
                    print(sum((model(x).argmax(1) == y).sum().item() for x, y in tests))
""",
}
