"""Programs for rectified-scores."""

from ._programs import mutant

_NET = """
import torch
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3)
        self.fc = nn.Linear(8, 10)

    def forward(self, x):
        x = F.relu(self.conv(x)).mean((2, 3))
        x = F.dropout(self.fc(x), 0.1, self.training)
        return x

def train(loader):
    net = Net()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        criterion(net(x), y).backward()
        optimizer.step()
"""
_SEQUENTIAL = """
import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1), nn.Flatten(0))
optimizer = torch.optim.Adam(net.parameters())

def step(x, y):
    loss = nn.functional.binary_cross_entropy_with_logits(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
_HEADS = """
import torch
from torch import nn

class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.LSTM(8, 8)
        self.act = nn.ReLU()
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        hidden = self.act(self.body(x)[0])
        scores = self.head(hidden)
        return scores.view(-1, 5)

def fit(tagger: Tagger, x, y):
    criterion = nn.CrossEntropyLoss(ignore_index=0)
    return criterion(tagger(x), y.view(-1))

fit(Tagger(), torch.zeros(3, 2, 8), torch.zeros(6).long())
"""
_HELPER = """
import torch
import torch.nn.functional as F

def project(layer, x):
    return layer(x)

def loss_of(layer, x, y):
    out = project(layer, x)
    return F.cross_entropy(out, y)

loss_of(torch.nn.Linear(4, 3), torch.zeros(2, 4), torch.zeros(2).long())
"""
_MLP = """
from torch import nn

class MLP(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.first = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
        self.last = nn.Linear(8, 3)

    def forward(self, x):
        return self.last(self.first(x))

model = MLP([4, 8, 3])
criterion = nn.CrossEntropyLoss()

def loss_of(x, y):
    scores = model(x)
    loss = criterion(scores, y)
    return loss
"""
FAILS = {
    "net": mutant(
        _NET, ("F.dropout(self.fc(x), 0.1, self.training)", "F.dropout(F.relu(self.fc(x)), 0.1, self.training)")
    ),
    "sequential": mutant(_SEQUENTIAL, ("nn.Linear(8, 1), nn.Flatten(0)", "nn.Linear(8, 1), nn.ReLU(), nn.Flatten(0)")),
    "heads": mutant(_HEADS, ("scores = self.head(hidden)", "scores = self.act(self.head(hidden))")),
    "helper": mutant(_HELPER, ("    return layer(x)\n", "    return torch.relu(layer(x))\n")),
    "mlp": mutant(_MLP, ("return self.last(self.first(x))", "return self.last(self.first(x)).relu()")),
}
SILENT = {
    "net": _NET,
    "sequential": _SEQUENTIAL,
    "heads": _HEADS,
    "helper": _HELPER,
    "mlp": _MLP,
    "in one of two arms": """
import torch
from torch import nn

def loss_of(net, x, y, positive):
    out = net(x)
    if positive:
        out = torch.relu(out)
    return nn.functional.cross_entropy(out, y)
""",
    "moved below zero again": """
import torch
from torch import nn

def loss_of(net, x, y):
    return nn.functional.cross_entropy(-torch.relu(net(x)), y) + nn.functional.cross_entropy(torch.relu(net(x)) - 1, y)
""",
    "of two losses the call fits the one of counts": """
import torch
from torch import nn

class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.by_class = nn.CrossEntropyLoss()

    def forward(self, scores, counts, target, points):
        return self.by_class(scores, target) + (counts - target).abs().mean()

class Counts(nn.Module):
    def forward(self, counts, target, points):
        return (counts - target).abs().mean()

class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 3), nn.ReLU())

    def forward(self, x):
        return self.body(x)

def train(loader, regression):
    net = Counter()
    criterion = Counts() if regression else Both()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y, points in loader:
        optimizer.zero_grad()
        criterion(net(x), y, points).backward()
        optimizer.step()
""",
    "a distance": """
import torch
from torch import nn

def loss_of(net, x, y):
    return nn.functional.mse_loss(torch.relu(net(x)), y)
""",
}
