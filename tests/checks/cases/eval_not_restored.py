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
    "fit() makes the model the first time only": """
import torch
from torch import nn

class Trainer:
    def __init__(self, width):
        self.width = width
        self.net = None

    def fit(self, loader):
        if self.net is None:
            self.net = nn.Sequential(nn.Linear(self.width, 8), nn.Dropout(0.5), nn.Linear(8, 2))
        opt = torch.optim.SGD(self.net.parameters(), lr=0.1)
        for x, y in loader:
            opt.zero_grad()
            nn.functional.cross_entropy(self.net(x), y).backward()
            opt.step()

    def test(self, loader):
        self.net.eval()
        with torch.no_grad():
            return sum((self.net(x).argmax(1) == y).sum().item() for x, y in loader)

def main(folds):
    trainer = Trainer(16)
    for loader, test_loader in folds:
        trainer.fit(loader)
        print(trainer.test(test_loader))
""",
    "one trainer for all folds": """
import torch
from torch import nn

class Trainer:
    def __init__(self, width):
        self.width = width
        self.net = nn.Sequential(nn.Linear(width, 8), nn.Dropout(0.5), nn.Linear(8, 2))

    def fit(self, loader):
        opt = torch.optim.SGD(self.net.parameters(), lr=0.1)
        for x, y in loader:
            opt.zero_grad()
            nn.functional.cross_entropy(self.net(x), y).backward()
            opt.step()

    def test(self, loader):
        self.net.eval()
        with torch.no_grad():
            return sum((self.net(x).argmax(1) == y).sum().item() for x, y in loader)

def main(folds):
    trainer = Trainer(16)
    for loader, test_loader in folds:
        trainer.fit(loader)
        print(trainer.test(test_loader))
""",
}

SILENT = {
    "a trainer of each fold makes its model": """
import torch
from torch import nn

class Trainer:
    def __init__(self, width):
        self.width = width
        self.net = nn.Sequential(nn.Linear(width, 8), nn.Dropout(0.5), nn.Linear(8, 2))

    def fit(self, loader):
        opt = torch.optim.SGD(self.net.parameters(), lr=0.1)
        for x, y in loader:
            opt.zero_grad()
            nn.functional.cross_entropy(self.net(x), y).backward()
            opt.step()

    def test(self, loader):
        self.net.eval()
        with torch.no_grad():
            return sum((self.net(x).argmax(1) == y).sum().item() for x, y in loader)

def main(folds):
    for loader, test_loader in folds:
        trainer = Trainer(16)
        trainer.fit(loader)
        print(trainer.test(test_loader))
""",
    "fit() makes the model that it trains": """
import torch
from torch import nn

class Trainer:
    def __init__(self, width):
        self.width = width
        self.net = None

    def fit(self, loader):
        self.net = nn.Sequential(nn.Linear(self.width, 8), nn.Dropout(0.5), nn.Linear(8, 2))
        opt = torch.optim.SGD(self.net.parameters(), lr=0.1)
        for x, y in loader:
            opt.zero_grad()
            nn.functional.cross_entropy(self.net(x), y).backward()
            opt.step()

    def test(self, loader):
        self.net.eval()
        with torch.no_grad():
            return sum((self.net(x).argmax(1) == y).sum().item() for x, y in loader)

def main(folds):
    trainer = Trainer(16)
    for loader, test_loader in folds:
        trainer.fit(loader)
        print(trainer.test(test_loader))
""",
    "the average of an object that keeps a copy is evaluated": """
import copy
import torch
from torch import nn

class Average:
    def __init__(self, model):
        self.module = copy.deepcopy(model).eval()

    @torch.no_grad()
    def update(self, model):
        for old, new in zip(self.module.parameters(), model.parameters()):
            old.lerp_(new, 0.01)

def validate(net, loader):
    net.eval()
    with torch.no_grad():
        return sum((net(x).argmax(1) == y).sum().item() for x, y in loader)

def main(loader, val_loader):
    model = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))
    average = Average(model)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(10):
        for x, y in loader:
            opt.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            opt.step()
            average.update(model)
        print(validate(average.module, val_loader))
""",
    "a copy that averages the weights is evaluated, by another function": """
import copy
import torch
from torch import nn

def average(model, ema, rate=0.99):
    with torch.no_grad():
        for new, old in zip(model.parameters(), ema.parameters()):
            old.mul_(rate).add_(new, alpha=1 - rate)

def sample(model, ema, noise):
    ema.eval()
    with torch.no_grad():
        return ema(noise)

def train(loader, noise):
    model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.1), nn.Linear(8, 8))
    ema = copy.deepcopy(model)
    opt = torch.optim.Adam(model.parameters())
    for step, x in enumerate(loader):
        opt.zero_grad()
        (model(x) - x).pow(2).mean().backward()
        opt.step()
        average(model, ema)
        if step % 100 == 0:
            sample(model, ema, noise)
    return model, ema

def main(loader, noise):
    model, ema = train(loader, noise)
    sample(model, ema, noise)
""",
    "a function that is applied to all modules restores it": """
import torch
from torch import nn
def set_train(m):
    m.training = True
def evaluate(net, loader):
    net.eval()
    with torch.no_grad():
        return sum((net(x).argmax(1) == y).float().mean() for x, y in loader)
def train(loader, val):
    net = nn.Sequential(nn.Linear(8, 4), nn.Dropout(0.5), nn.Linear(4, 2))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(10):
        net.apply(set_train)
        for x, y in loader:
            opt.zero_grad()
            nn.functional.cross_entropy(net(x), y).backward()
            opt.step()
        evaluate(net, val)
""",
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
    "a new model in each fold": """
import torch
from torch import nn
def cross_validate(folds):
    for loader, held_out in folds:
        model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            print(sum(model(x).mean() for x in held_out))
""",
    "a new model for each rate, evaluated by a function": """
import torch
from torch import nn
def fit(model, loader, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for x in loader:
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
def validate(model, loader):
    model.eval()
    with torch.no_grad():
        return sum(model(x).mean() for x in loader)
def search(loader, held_out):
    scores = {}
    for lr in (0.1, 0.01):
        model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
        fit(model, loader, lr)
        scores[lr] = validate(model, held_out)
    return scores
""",
    "the loop is left after it": """
import torch
from torch import nn
def validate(model, x):
    with torch.no_grad():
        return model(x)
def fit(loader, held_out, steps):
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, x in enumerate(loader):
        optimizer.zero_grad()
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        if torch.isnan(loss):
            model.eval()
            validate(model, held_out)
            raise RuntimeError("the loss is not a number")
        if i == steps:
            model.eval()
            validate(model, held_out)
            break
    return model
""",
    "a copy is evaluated": """
import copy
import torch
from torch import nn
def evaluate(model, loader):
    model = copy.deepcopy(model)
    model.eval()
    with torch.no_grad():
        return sum(model(x).mean() for x in loader)
def fit(loader, held_out, epochs):
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
        evaluate(model, held_out)
""",
    "in the last of the rounds that are written out, or of a while": """
import torch
from torch import nn
def validate(model, x):
    with torch.no_grad():
        return model(x)
def first(loader, held_out):
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(10):
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
        if epoch == 9:
            model.eval()
            validate(model, held_out)
def second(loader, held_out, patience):
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    epoch, goes_on = 0, True
    while goes_on:
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
        epoch += 1
        if epoch > patience:
            goes_on = False
            model.eval()
            validate(model, held_out)
""",
    "batch norm kept as it is on purpose, from before the first round": """
import torch
from torch import nn
def accuracy(net, loader):
    net.eval()
    with torch.no_grad():
        return sum((net(x).argmax(1) == y).sum().item() for x, y in loader)
def finetune(loader, held_out):
    net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    net.eval()
    for epoch in range(10):
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x), y).backward()
            optimizer.step()
        print(accuracy(net, held_out))
""",
}
