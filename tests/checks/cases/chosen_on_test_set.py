"""Programs for chosen-on-test-set."""

from ._programs import mutant

_SCRIPT = """
import torch
from torch import nn
from torch.utils.data import DataLoader
from points import Points

model = nn.Linear(3, 10)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
train_loader = DataLoader(Points(split="train"), 32, shuffle=True)
loader = DataLoader(Points(split="val"), 32)
best_acc = 0.0

for epoch in range(10):
    model.train()
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    model.eval()
    right, seen = 0, 0
    with torch.no_grad():
        for x, y in loader:
            right += (model(x).argmax(1) == y).sum().item()
            seen += len(y)
    acc = right / seen
    if acc > best_acc:
        best_acc = acc
        torch.save(model.state_dict(), "best.pt")
"""
_TRAINER = """
# file: train.py
import torch
from data import make_loader
from engine import evaluate, train_one_epoch

def main(args, model, optimizer):
    train_loader = make_loader(args, "train")
    held_out = make_loader(args, "valid")
    best = {"acc1": 0.0}
    for epoch in range(args.epochs):
        train_one_epoch(model, train_loader, optimizer)
        stats = evaluate(model, held_out)
        is_best = stats["acc1"] > best["acc1"]
        best["acc1"] = max(stats["acc1"], best["acc1"])
        save_checkpoint({"model": model.state_dict()}, is_best)

def save_checkpoint(state, is_best):
    torch.save(state, "best.pt" if is_best else "last.pt")
# file: data.py
import torch
from points import Points

def make_loader(args, part):
    return torch.utils.data.DataLoader(Points(args.root, part), batch_size=args.batch)
# file: engine.py
import torch
from tqdm import tqdm

def train_one_epoch(model, loader, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    right = 0
    for x, y in tqdm(loader):
        right += (model(x).argmax(1) == y).sum().item()
    model.train()
    return {"acc1": right / len(loader.dataset)}
"""
_HANDED = """
import torch
from engine import evaluate, train_one_epoch

class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.best_loss = float("inf")

    def fit(self, train_loader, held_out, epochs):
        for epoch in range(epochs):
            train_one_epoch(self.model, train_loader, self.optimizer)
            loss, acc = evaluate(self.model, held_out)
            if loss < self.best_loss:
                self.best_loss = loss
                self.save("best.pt")

    def save(self, path):
        torch.save(self.model.state_dict(), path)
"""

_DRAWN = """
import os
import torch
from torchvision.utils import save_image
from pictures import Folder

def score_of(pictures, judge):
    loader = torch.utils.data.DataLoader(pictures, 32)
    total = 0.0
    for x in loader:
        total += judge(x).sum().item()
    return total

def train(generator, judge, rounds, noise, sample_path, args):
    best = 0.0
    for step in range(rounds):
        with torch.no_grad():
            save_image(generator(noise), os.path.join(sample_path, f"{step}.png"))
        score = score_of(Folder(sample_path, "test"), judge)
        if score > best:
            best = score
            torch.save({"net": generator.state_dict(), "args": args}, os.path.join(args.out, "best.pt"))
"""
FAILS = {
    "pictures that others took": mutant(_DRAWN, ('Folder(sample_path, "test")', 'Folder(args.root, "test")')),
    "a folder of which the run saves itself": mutant(
        _DRAWN, ('Folder(sample_path, "test")', 'Folder(args.out, "test")')
    ),
    "by way of helpers": mutant(_TRAINER, ('"valid"', '"test"')),
    "a loop of the script": mutant(_SCRIPT, ('split="val"', 'split="test"')),
    "MNIST as torchvision has it": mutant(
        _SCRIPT,
        ("from points import Points", "from points import Points\nfrom torchvision.datasets import MNIST"),
        ('Points(split="val")', 'MNIST("data", False)'),
    ),
    "a score that is rounded": mutant(
        _SCRIPT, ('split="val"', 'split="test"'), ("if acc > best_acc", "if best_acc <= round(acc, 4)")
    ),
    "called by its name alone": mutant(
        _HANDED,
        ("fit(self, train_loader, held_out,", "fit(self, train_loader, test_loader,"),
        ("self.model, held_out", "self.model, test_loader"),
    ),
    "a set of the code's own": mutant(_SCRIPT, ('split="val"', '"data", "test"')),
}

SILENT = {
    "pictures that are drawn in the round": _DRAWN,
    "a validation set": _SCRIPT,
    "by way of helpers": _TRAINER,
    "handed in": _HANDED,
    "the loss of the training": mutant(
        _SCRIPT, ('split="val"', 'split="test"'), ("if acc > best_acc", "if loss.item() > best_acc")
    ),
    "the last one is kept": mutant(_SCRIPT, ('split="val"', 'split="test"'), ("if acc > best_acc", "if epoch == 9")),
    "what is called a test set is one of validation": mutant(
        _HANDED,
        (
            "fit(self, train_loader, held_out, epochs):",
            "fit(self, train_loader, val_set, epochs):\n        test_loader = val_set",
        ),
        ("self.model, held_out", "self.model, test_loader"),
    ),
    "train=False of a class of its own": mutant(_SCRIPT, ('split="val"', "train=False")),
}
