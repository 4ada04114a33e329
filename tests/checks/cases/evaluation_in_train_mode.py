"""Programs for evaluation-in-train-mode."""

from ._programs import mutant

_SCRIPT = """
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.Linear(4, 2))

def evaluate(loader):
    model.eval()
    right = 0
    with torch.no_grad():
        for x, y in loader:
            right += (model(x).argmax(1) == y).sum().item()
    return right
"""
_CLASS = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.norm = nn.BatchNorm2d(8)

    def forward(self, x):
        return self.norm(self.conv(x)).mean((2, 3))

class Trainer:
    def __init__(self):
        self.net = Net()

    def validate(self, loader):
        self.net.eval()
        with torch.no_grad():
            return [self.net(x) for x in loader]

    def test(self, loader):
        scores = []
        self.net.eval()
        for x, y in loader:
            scores.append(self.net(x).argmax(1).eq(y).float().mean())
        return scores
"""
_FILES = """
# file: model.py
from torch import nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        return x + self.drop(self.fc(x))

def build(depth):
    return nn.Sequential(*[Block() for _ in range(depth)], nn.Linear(4, 2))
# file: score.py
import torch

@torch.no_grad()
def eval_model(net, batches):
    total = 0
    for x, y in batches:
        total += (net(x).argmax(1) == y).sum().item()
    return total
# file: main.py
from model import build
from score import eval_model

def main(batches):
    net = build(3)
    net.eval()
    print(eval_model(net, batches))
"""
_CLOSURE = """
import torch
from torch import nn

def make(loader):
    net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
    def evaluate():
        net.eval()
        total = 0.0
        for x, y in loader:
            with torch.no_grad():
                total += nn.functional.mse_loss(net(x), y).item()
        return total
    return net, evaluate
"""

_OWN = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Flatten())
        self.head = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 2))

    def forward(self, x):
        return self.head(self.layers(x))

def check(loader, path):
    net = Net().to("cuda")
    net.load_state_dict(torch.load(path))
    net.eval()
    correct = total = 0
    with torch.no_grad():
        for x, y in loader:
            out = net(x)
            total += y.size(0)
            correct += (out.argmax(1) == y).sum().item()
    print(correct / total)

def show(x, net):
    net.eval()
    return net(x)
"""

FAILS = {
    "a model of its own, by another name": mutant(_OWN, ("    net.eval()\n    correct", "    correct")),
    "that model in a wrapper": mutant(
        _OWN, ("    net.eval()\n    correct", "    net = nn.DataParallel(net)\n    correct")
    ),
    "script": mutant(_SCRIPT, ("    model.eval()\n", "")),
    "method": mutant(
        _CLASS,
        ("        self.net.eval()\n        with", "        with"),
        ("        self.net.eval()\n        for", "        for"),
    ),
    "three files": mutant(_FILES, ("    net.eval()\n", "")),
    "closure": mutant(_CLOSURE, ("        net.eval()\n", "")),
    "without no_grad too": mutant(
        _SCRIPT, ("    model.eval()\n", ""), ("    with torch.no_grad():\n", "    if True:\n")
    ),
}

SILENT = {
    "a model of its own": _OWN,
    "a model of its own that a helper may switch": mutant(
        _OWN,
        ("    net.eval()\n    correct", "    ready(net)\n    correct"),
        ("import torch\n", "import torch\nfrom kit import ready\n"),
    ),
    "a model that is given, which a caller may switch": mutant(
        _OWN,
        ("    net.eval()\n    correct", "    correct"),
        ("def check(loader, path):\n    net = Net()", "def check(loader, net):\n    net = net"),
        ("    net.load_state_dict(torch.load(path))\n", ""),
    ),
    "a model that switches itself": mutant(
        _OWN,
        ("    net.eval()\n    correct", "    correct"),
        ("    def forward(self, x):\n", "        self.eval()\n\n    def forward(self, x):\n"),
    ),
    "a network that is tried with the weights that were drawn": mutant(
        _OWN,
        ("    net.eval()\n    correct", "    correct"),
        ("    net.load_state_dict(torch.load(path))\n", ""),
        ("def check(loader, path)", "def test_net(loader)"),
    ),
    "no score is kept": mutant(
        _OWN,
        ("    net.eval()\n    correct", "    correct"),
        ("            correct += (out.argmax(1) == y).sum().item()\n", "            print(out)\n"),
        ("    correct = total = 0", "    total = 0"),
        ("print(correct / total)", "print(total)"),
    ),
    "script": _SCRIPT,
    "class": _CLASS,
    "files": _FILES,
    "closure": _CLOSURE,
    "nothing that has modes": """
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))

@torch.no_grad()
def evaluate(loader):
    return sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
""",
}
