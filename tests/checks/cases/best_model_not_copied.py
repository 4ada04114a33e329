"""Programs for best-model-not-copied."""

from ._programs import mutant

_FIT = """
import copy
import torch

def fit(model, loader, validate, optimizer, epochs):
    best_loss, best_model = 1e9, None
    for epoch in range(epochs):
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        val_loss = validate(model)
        if val_loss < best_loss:
            best_loss = val_loss
            best_model = copy.deepcopy(model)
    return best_model
"""
_TAGGER = """
from copy import deepcopy
import torch

class Tagger:
    def __init__(self, net):
        self.model = net
        self.best_model = None
        self._best_loss = 1e18
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def train(self, batches, dev):
        for _ in range(10):
            for x, y in batches:
                self.model.train()
                self.optimizer.zero_grad()
                torch.nn.functional.cross_entropy(self.model(x), y).backward()
                self.optimizer.step()
            self.validate(*dev)

    def validate(self, x, y):
        self.model.eval()
        with torch.no_grad():
            loss = torch.nn.functional.cross_entropy(self.model(x), y).item()
            if loss < self._best_loss:
                self.best_model = deepcopy(self.model)
                self._best_loss = loss
            return loss

    def test(self, x):
        self.best_model.eval()
        return self.best_model(x).argmax(-1)
"""
_CALLED = """
import copy

def search(net, optimizer, data, train_epoch, validate, test):
    best_net, best = None, 0.0
    while True:
        train_epoch(net, optimizer, data)
        score = validate(net, data)
        if score > best:
            best, best_net = score, None
            best_net = copy.deepcopy(net)
        if score > 0.99:
            break
    return test(best_net, data)
"""
_PLAIN = ("copy.deepcopy(model)", "model")
SILENT = {
    "fit": _FIT,
    "tagger": _TAGGER,
    "called": _CALLED,
    "a network for each round": """
def folds(build, parts, train, test):
    best, best_model = 0, None
    for part in parts:
        model = build()
        train(model, part)
        score = test(model)
        if score > best:
            best = score
            best_model = model
    return best_model
""",
    "the best of several": """
def pick(models, fit, score):
    best, best_model = 0, None
    for model in models:
        fit(model)
        if score(model) > best:
            best, best_model = score(model), model
    return best_model
""",
    "training ends": mutant(_FIT, _PLAIN, ("    return best", "            break\n    return best")),
    "written at once": mutant(
        _FIT,
        _PLAIN,
        ("    return best_model", '            torch.save(best_model.state_dict(), "best.pt")\n    return epoch'),
    ),
    "gets the best weights back": mutant(
        _FIT,
        _PLAIN,
        (
            "    return best",
            '            torch.save(model.state_dict(), "b.pt")\n    model.load_state_dict(torch.load("b.pt"))\n    return best',
        ),
    ),
    "copied at the end of the round": mutant(
        _FIT,
        _PLAIN,
        (
            "            best_loss = val_loss",
            "            model = copy.deepcopy(model)\n            best_loss = val_loss",
        ),
    ),
    "nothing is trained": """
def compare(model, tasks, score):
    best, best_model = 0, None
    for task in tasks:
        if score(model, task) > best:
            best, best_model = score(model, task), model
    return best_model
""",
    "made anew for each fit": mutant(
        _TAGGER,
        ("deepcopy(self.model)", "self.model"),
        ("        for _ in range(10):\n", "        self.model = build()\n        for _ in range(10):\n"),
    ),
}
FAILS = {
    "fit": mutant(_FIT, _PLAIN),
    "tagger": mutant(_TAGGER, ("deepcopy(self.model)", "self.model")),
    "called": mutant(_CALLED, ("copy.deepcopy(net)", "net")),
}
