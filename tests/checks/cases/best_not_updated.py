"""Programs for best-not-updated."""

from ._programs import mutant

_LOOP = """
import torch

def fit(model, train, validate, epochs):
    best_acc = 0.0
    for epoch in range(epochs):
        train(model)
        acc = validate(model)
        if acc > best_acc:
            best_acc = acc
            torch.save(model.state_dict(), "best.pt")
"""
_TRAINER = """
import torch

class Trainer:
    def __init__(self, model):
        self.model = model
        self.best_loss = float("inf")

    def keep(self, loss):
        if loss < self.best_loss:
            self.best_loss = loss
            torch.save(self.model.state_dict(), "best.pt")

    def fit(self, train, validate, epochs):
        for epoch in range(epochs):
            train(self.model)
            self.keep(validate(self.model))
"""
_TOLD = """
import torch

best_acc1 = 0

def save_checkpoint(state, is_best):
    torch.save(state, "best.pt" if is_best else "last.pt")

def main(model, train, validate, epochs):
    global best_acc1
    for epoch in range(epochs):
        train(model)
        acc1 = validate(model)
        is_best = acc1 > best_acc1
        best_acc1 = max(acc1, best_acc1)
        save_checkpoint(model.state_dict(), is_best)
"""
SILENT = {
    "noted beside the save": _LOOP,
    "in a class": _TRAINER,
    "by max(), a global": _TOLD,
    "noted in the other order": mutant(
        _LOOP,
        ("            best_acc = acc\n", ""),
        ('"best.pt")\n', '"best.pt")\n        best_acc = max(best_acc, acc)\n'),
    ),
    "two at once": mutant(_LOOP, ("            best_acc = acc\n", "            best_acc, best_epoch = acc, epoch\n")),
    "a threshold": mutant(_LOOP, ("best_acc = 0.0", "best_acc = 0.93"), ("            best_acc = acc\n", "")),
    "a threshold in per cent": mutant(
        _LOOP, ("best_acc = 0.0", "best_acc = 93.0"), ("            best_acc = acc\n", "")
    ),
    "the loop ends": mutant(
        _LOOP, ("            best_acc = acc\n", ""), ('"best.pt")\n', '"best.pt")\n            break\n')
    ),
    "a table": mutant(
        _LOOP,
        ("best_acc = 0.0", "best = {'acc': 0.0}"),
        ("> best_acc", "> best['acc']"),
        ("best_acc = acc", "best['acc'] = acc"),
    ),
    "kept by who calls": """
import torch

def keep(model, acc, best_acc):
    if acc > best_acc:
        torch.save(model.state_dict(), "best.pt")
        return acc
    return best_acc

def fit(model, train, validate, epochs):
    best_acc = 0.0
    for epoch in range(epochs):
        train(model)
        best_acc = keep(model, validate(model), best_acc)
""",
    "by a method of another class": mutant(
        _TRAINER,
        ("            self.best_loss = loss\n", ""),
        (
            "            self.keep(validate(self.model))\n",
            "            loss = validate(self.model)\n            self.keep(loss)\n            note(self, loss)\n\n"
            "def note(trainer, loss):\n    trainer.best_loss = min(trainer.best_loss, loss)\n",
        ),
    ),
    "by a function inside": mutant(
        _LOOP,
        (
            "    for epoch in",
            "    def note(acc):\n        nonlocal best_acc\n        best_acc = acc\n\n    for epoch in",
        ),
        ("            best_acc = acc\n            torch", "            note(acc)\n            torch"),
    ),
}
FAILS = {
    "a variable": mutant(_LOOP, ("            best_acc = acc\n", "")),
    "in a class": mutant(_TRAINER, ("            self.best_loss = loss\n", "")),
    "a global that a save is told of": mutant(_TOLD, ("        best_acc1 = max(acc1, best_acc1)\n", "")),
    "another name is given the score": mutant(_LOOP, ("            best_acc = acc\n", "            best = acc\n")),
    "smaller is better": mutant(
        _LOOP,
        ("best_acc = 0.0", "best_loss = 1e9"),
        ("acc > best_acc", "acc < best_loss"),
        ("            best_acc = acc\n", ""),
    ),
    "begun anew before each of several trainings": mutant(
        _LOOP, ("            best_acc = acc\n", ""), ("def fit(", "def once(")
    )
    + "\ndef fit(model, train, validate):\n    for seed in range(3):\n        torch.manual_seed(seed)\n        once(model, train, validate, 10)\n",
}
