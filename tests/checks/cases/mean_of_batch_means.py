"""Programs for mean-of-batch-means."""

from ._programs import mutant

_FUNCTION = """
import torch
import torch.nn.functional as F

@torch.no_grad()
def evaluate(model, val_loader):
    model.eval()
    total, n = 0.0, 0
    for x, y in val_loader:
        total += F.mse_loss(model(x), y).item() * len(x)
        n += len(x)
    return total / n
"""
_CLASS = """
import torch
from torch import nn

class Evaluator:
    def __init__(self, model):
        self.model = model
        self.criterion = nn.CrossEntropyLoss(reduction="sum")

    @torch.no_grad()
    def __call__(self, loader):
        self.model.eval()
        running = 0.0
        for x, y in loader:
            loss = self.criterion(self.model(x), y)
            running += loss.item()
        running /= len(loader.dataset)
        return running
"""

FAILS = {
    "function": mutant(_FUNCTION, (" * len(x)", ""), ("total / n", "total / len(val_loader)")),
    "counter of batches": mutant(_FUNCTION, (" * len(x)", ""), ("n += len(x)", "n += 1")),
    "class": mutant(_CLASS, ('reduction="sum"', ""), ("len(loader.dataset)", "len(loader)")),
    "script": """
import torch
from torch import nn
from data import model, test_loader

loss_fn = nn.BCEWithLogitsLoss()
test_loss = 0
with torch.no_grad():
    for batch, (X, y) in enumerate(test_loader):
        test_loss += loss_fn(model(X), y).item()
print(test_loss / len(test_loader))
""",
    "closure": """
import torch

def make(model, criterion=torch.nn.L1Loss()):
    def validate(dataloader):
        summed = 0
        for x, y in dataloader:
            with torch.no_grad():
                loss = criterion(model(x), y)
            summed += loss
        return (summed / len(dataloader)).item()
    return validate
""",
    "over a number of examples": """
import torch
import torch.nn.functional as F

def test(model, test_loader):
    test_loss = 0
    for data, target in test_loader:
        test_loss += F.nll_loss(torch.log_softmax(model(data), 1), target).item()
    test_loss /= len(test_loader.dataset)
    return test_loss
""",
    "over a count of examples": """
import torch
from torch import nn

class Judge:
    def __init__(self):
        self.criterion = nn.MSELoss()

    @torch.no_grad()
    def run(self, model, val_loader):
        total_loss, seen = 0.0, 0
        for x, y in val_loader:
            loss = self.criterion(model(x), y)
            total_loss += loss.item()
            seen += x.size(0)
        return total_loss / seen
""",
}

SILENT = {
    "weighted": _FUNCTION,
    "summed": _CLASS,
    "weighed before it is added": """
import torch
import torch.nn.functional as F

def test(model, test_loader):
    total = 0
    for x, y in test_loader:
        loss = F.cross_entropy(model(x), y)
        loss = loss * x.size(0)
        total += loss.item()
    return total / len(test_loader.dataset)
""",
    "a sum by its older name": """
import torch
import torch.nn.functional as F

def test(model, test_loader):
    total = 0
    for x, y in test_loader:
        total += F.cross_entropy(model(x), y, size_average=False).item()
    return total / len(test_loader.dataset)
""",
    "a loss over levels": """
import torch.nn.functional as F

def feature_loss(fake, real):
    total = 0
    for a, b in zip(fake, real):
        total += F.l1_loss(a, b)
    return total / len(fake)
""",
    "by the size of the dataset": """
import torch
import torch.nn.functional as F

def test(model, test_loader):
    test_loss = 0
    for data, target in test_loader:
        test_loss += F.nll_loss(torch.log_softmax(model(data), 1), target, reduction="sum").item()
    return test_loss / len(test_loader.dataset)
""",
}
