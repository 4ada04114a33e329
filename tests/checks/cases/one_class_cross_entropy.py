"""Programs for one-class-cross-entropy."""

from ._programs import mutant

_NET = """
import torch
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def __init__(self, size, classes=2):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, size), nn.ReLU(), nn.Dropout(0.1))
        self.head = nn.Linear(size, classes)

    def forward(self, x):
        return self.head(self.body(x))

def train(loader):
    net = Net(16)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
"""
_UNET = """
import torch
import torch.nn.functional as F
from torch import nn

class UNet(nn.Module):
    def __init__(self, channels, classes):
        super().__init__()
        self.down = nn.Conv2d(channels, 16, 3, padding=1)
        self.final = nn.Conv2d(16, classes, 1)

    def forward(self, x):
        return self.final(F.relu(self.down(x)))

def fit(loader):
    net = UNet(3, 2)
    optimizer = torch.optim.Adam(net.parameters())
    for x, mask in loader:
        loss = F.cross_entropy(net(x), mask)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
_CHAIN = """
import torch
from torch import nn

net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2), nn.Dropout(0.1))
optimizer = torch.optim.Adam(net.parameters())

def step(x, y):
    loss = nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
SILENT = {
    "net": _NET,
    "unet": _UNET,
    "chain": _CHAIN,
    "one score for each candidate": mutant(_NET, ("net(x), y", "net(x).squeeze(-1), y"), ("classes=2", "classes=1")),
    "candidates side by side": mutant(_NET, ("net(x), y", "net(x).view(-1, 5), y"), ("classes=2", "classes=1")),
    "two scores side by side": mutant(
        _NET, ("net(x), y", "torch.cat([net(x), net(-x)], 1), y"), ("classes=2", "classes=1")
    ),
    "flat": mutant(_CHAIN, ("nn.Linear(16, 2), nn.Dropout(0.1)", "nn.Conv1d(4, 1, 3), nn.Flatten()")),
    "a binary loss": mutant(_UNET, ("F.cross_entropy(net(x)", "F.binary_cross_entropy_with_logits(net(x)"), ("UNet(3, 2)", "UNet(3, 1)")),
    "one of two networks": mutant(
        _UNET, ("    net = UNet(3, 2)", "    net = UNet(3, 1) if loader.binary else UNet(3, 2)")
    ),
}  # fmt: skip
FAILS = {
    "net": mutant(_NET, ("classes=2", "classes=1")),
    "squashed as well": mutant(_NET, ("classes=2", "classes=1"), ("self.head(self.body(x))", "torch.sigmoid(self.head(self.body(x)))")),
    "unet": mutant(_UNET, ("UNet(3, 2)", "UNet(3, 1)")),
    "unet, by keyword": mutant(_UNET, ("UNet(3, 2)", "UNet(3, classes=1)")),
    "chain": mutant(_CHAIN, ("nn.Linear(16, 2)", "nn.Linear(16, 1)")),
    "chain, squashed": mutant(_CHAIN, ("nn.Linear(16, 2), nn.Dropout(0.1)", "nn.Linear(16, 1), nn.Sigmoid()")),
}  # fmt: skip
