"""Programs for frozen-in-optimizer: must be found in FAILS, and not in SILENT."""

from . import mutants

FAILS, ORIGINALS = mutants(
    {
        "function": (
            """
import torch

def build(encoder, head):
    for p in encoder.parameters():
        p.requires_grad = False
    return torch.optim.Adam(head.parameters())
""",
            "head.parameters()",
            "list(encoder.parameters()) + list(head.parameters())",
        ),
        "a counter is set on it": (
            """
import torch

def fit(encoder, head, loader):
    encoder.requires_grad_(False)
    optimizer = torch.optim.Adam(head.parameters())
    for x in loader:
        encoder.calls = 0
        optimizer.zero_grad()
        head(encoder(x)).mean().backward()
        optimizer.step()
""",
            "Adam(head.parameters())",
            "Adam([*encoder.parameters(), *head.parameters()])",
        ),
        "class": (
            """
import torch

class Tuner:
    def __init__(self, net, head):
        self.net, self.head = net, head
        self.freeze()
        self.opt = torch.optim.SGD([{"params": self.head.parameters()}], lr=0.1)

    def freeze(self):
        self.net.requires_grad_(False)
""",
            '[{"params": self.head.parameters()}]',
            '[{"params": self.head.parameters()}, {"params": self.net.parameters()}]',
        ),
        "helper in another file": (
            """
# file: freeze.py
def freeze(module):
    for _, p in module.named_parameters():
        p.requires_grad = False
# file: train.py
import itertools
import torch
from freeze import freeze

def main(body, neck):
    freeze(body)
    return torch.optim.Adam(itertools.chain(neck.parameters()))
""",
            "itertools.chain(neck.parameters())",
            "itertools.chain(body.parameters(), neck.parameters())",
        ),
        "lightning": (
            """
import lightning as L
import torch

class Lit(L.LightningModule):
    def __init__(self, backbone, head):
        super().__init__()
        self.backbone, self.head = backbone, head
        for p in self.backbone.parameters():
            p.requires_grad_(False)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.head.parameters(), lr=1e-3)
""",
            "self.head.parameters(), lr",
            "[*self.backbone.parameters(), *self.head.parameters()], lr",
        ),
        "script": (
            """
import torch
from torch import nn

stem, tail = nn.Linear(4, 4), nn.Linear(4, 1)
stem.requires_grad_(False)
params = list(tail.parameters())
optimizer = torch.optim.SGD(params, lr=0.1)
""",
            "list(tail.parameters())",
            "list(stem.parameters()) + list(tail.parameters())",
        ),
    }
)
SILENT = ORIGINALS | {
    "thawed": """
import torch

class T:
    def __init__(self, net):
        self.net = net
        self.net.requires_grad_(False)
        self.opt = torch.optim.Adam(self.net.parameters())

    def warm(self):
        self.net.requires_grad_(True)
""",
    "filtered": """
import torch

def f(net):
    net.requires_grad_(False)
    net.fc.requires_grad_(True)
    return torch.optim.Adam(filter(lambda p: p.requires_grad, net.parameters()))
""",
    "toggled in a game": """
import torch

def f(g, d, loader):
    opt = torch.optim.Adam(d.parameters())
    for x in loader:
        d.requires_grad_(False)
        g(x)
        d.requires_grad_(True)
    return opt
""",
    "some of them": """
import torch

def f(net):
    for name, p in net.named_parameters():
        if "norm" in name:
            p.requires_grad = False
    return torch.optim.Adam(net.parameters())
""",
    "flag from outside": """
import torch

def f(net, train_it):
    for p in net.parameters():
        p.requires_grad = train_it
    return torch.optim.Adam(net.parameters())
""",
    "teacher": """
import torch

def f(student, teacher):
    teacher.requires_grad_(False)
    return torch.optim.Adam(student.parameters())
""",
    "a part": """
import torch

def f(net):
    for p in net.stem.parameters():
        p.requires_grad = False
    return torch.optim.Adam(net.parameters())
""",
}
