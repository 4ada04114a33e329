"""Programs for unshuffled-training-data."""

from ._programs import mutant

_FUNCTION = """
import torch
import torchvision
from torch.utils.data import DataLoader

def train(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = torchvision.datasets.ImageFolder("train")
    loader = DataLoader(data, batch_size=32, shuffle=True)
    for epoch in range(3):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
"""
_CLASS = """
import torch
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]

class Trainer:
    def __init__(self, model, rows):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters())
        self.loader = DataLoader(Rows(rows), batch_size=8, shuffle=True)

    def update(self, x):
        self.optimizer.zero_grad()
        self.model(x).mean().backward()
        self.optimizer.step()

    def fit(self):
        for x in self.loader:
            self.update(x)
"""
_FILES = """
# file: data.py
import torch.utils.data as tud

def loaders(x, y):
    dataset = tud.TensorDataset(x, y)
    return tud.DataLoader(dataset, 16, True)
# file: train.py
import torch
from data import loaders

def main(model, x, y):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    batches = loaders(x, y)
    for i, (a, b) in enumerate(batches):
        opt.zero_grad()
        torch.nn.functional.mse_loss(model(a), b).backward()
        opt.step()
"""
_CLOSURE = """
import torch
from torchvision import datasets
from torch.utils.data import DataLoader

def make(model):
    train = DataLoader(datasets.CIFAR10("data"), batch_size=64, shuffle=True)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    def epoch():
        for x, y in train:
            loss = torch.nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
    return epoch
"""

_FLAGGED = """
import torch
import torchvision
from torch.utils.data import DataLoader

def run(model, loader, optimizer=None, train=True, phase="train"):
    is_training = optimizer is not None
    for x, y in loader:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        if train:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

def main(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(torchvision.datasets.ImageFolder("train"), batch_size=32, shuffle=True)
    held_out = DataLoader(torchvision.datasets.ImageFolder("val"), batch_size=32)
    for epoch in range(3):
        run(model, loader, optimizer)
        run(model, held_out, optimizer, train=False)
"""
_MODES = """
import torch
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, index):
        return self.rows[index]

    def __len__(self):
        return len(self.rows)

class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def run(self, rows, others):
        train_loader = self.loader(rows)
        test_loader = self.loader(others, mode="test")
        for epoch in range(9):
            for x, y in train_loader:
                self.optimizer.zero_grad()
                torch.nn.functional.cross_entropy(self.model(x), y).backward()
                self.optimizer.step()
        return [self.model(x) for x, y in test_loader]

    def loader(self, rows, mode="train"):
        rows = Rows(rows)
        if mode == "train":
            loader = DataLoader(rows, batch_size=8, shuffle=True)
        else:
            loader = DataLoader(rows, batch_size=32)
        return loader
"""

FAILS = {
    "the arm of the mode that trains": mutant(
        _MODES, (", shuffle=True", ""), ("batch_size=32", "batch_size=32, shuffle=True")
    ),
    "every mode": mutant(_MODES, ('mode == "train"', "len(rows) < 99"), ('others, mode="test"', "others")),
    "left out": mutant(_FUNCTION, (", shuffle=True", "")),
    "said so": mutant(_FUNCTION, ("shuffle=True", "shuffle=False")),
    "class": mutant(_CLASS, (", shuffle=True", "")),
    "two files": mutant(_FILES, (", 16, True)", ", 16)")),
    "closure": mutant(_CLOSURE, (", shuffle=True", "")),
    "a flag of each call": mutant(_FLAGGED, (", shuffle=True", "")),
    "an optimizer for each call": mutant(
        _FLAGGED, (", shuffle=True", ""), ("if train:", "if is_training:"), ("optimizer, train=False", "None")
    ),
}

SILENT = {
    "the arm of another mode": _MODES,
    "function": _FUNCTION,
    "class": _CLASS,
    "files": _FILES,
    "closure": _CLOSURE,
    "a flag of each call": _FLAGGED,
    "no optimizer, no training": mutant(
        _FLAGGED, ("if train:", "if optimizer is not None:"), ("held_out, optimizer, train=False", "held_out")
    ),
    "no optimizer, said by a name": mutant(
        _FLAGGED, ("if train:", "if is_training:"), ("held_out, optimizer, train=False", "held_out, None")
    ),
    "a phase": mutant(_FLAGGED, ("if train:", 'if phase == "train":'), ("train=False", 'phase="val"')),
    "sampler": mutant(_CLASS, ("shuffle=True", "sampler=torch.utils.data.RandomSampler(rows)")),
    "a dataset that draws": mutant(
        _CLASS, (", shuffle=True", ""), ("self.rows[index]", "self.rows[torch.randint(9, ())]")
    ),
    "arguments from a dict": mutant(_CLASS, ("shuffle=True", "**self.kwargs")),
    "evaluation": mutant(
        _FUNCTION, (", shuffle=True", ""), (".backward()", ""), ("            optimizer.step()\n", "")
    ),
    "a function that tries out the model": """
import torch
from torch.utils.data import DataLoader, Dataset
class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows
    def __getitem__(self, i):
        return self.rows[i]
    def __len__(self):
        return len(self.rows)
def model_test(rows, model):
    loader = DataLoader(Rows(rows), 4, shuffle=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
""",
}
