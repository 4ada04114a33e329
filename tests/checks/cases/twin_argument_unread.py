"""Programs for twin-argument-unread."""

from ._programs import mutant

_INFOMAX = """
import torch
from torch import nn

class Infomax(nn.Module):
    def __init__(self, gcn, read, disc):
        super().__init__()
        self.gcn, self.read, self.disc = gcn, read, disc

    def forward(self, seq1, seq2, adj, sparse, bias1, bias2):
        h_1 = self.gcn(seq1, adj, sparse)
        c = self.read(h_1).sigmoid()
        h_2 = self.gcn(seq2, adj, sparse)
        return self.disc(c, h_1, h_2, bias1, bias2)
"""
_TRIPLET = """
from torch import nn

class Triplet(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x_anchor, x_pos, x_neg):
        anchor = self.net(x_anchor)
        positive = self.net(x_pos)
        negative = self.net(x_neg)
        return (anchor - positive).pow(2).sum(1) - (anchor - negative).pow(2).sum(1)
"""
SILENT = {
    "infomax": _INFOMAX,
    "triplet": _TRIPLET,
    "two passes with dropout, no twin": """
def training_step(model, x, loss_of):
    h_1 = model(x)
    h_2 = model(x)
    return loss_of(h_1, h_2)
""",
    "the interface of others": """
from torch import nn

class First(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x1, x2):
        h = self.net(x1)
        return h.relu()
""",
    "in two branches": """
from torch import nn

class Either(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x1, x2):
        if self.training:
            h = self.net(x1)
        else:
            out = self.net(x1)
            h = out.detach()
        return h
""",
    "another value under the name": """
from torch import nn

class Twice(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x1, x2):
        a = self.net(x1)
        x1 = x1.flip(1)
        b = self.net(x1)
        return a + b
""",
}
FAILS = {
    "infomax": mutant(_INFOMAX, ("self.gcn(seq2", "self.gcn(seq1")),
    "triplet": mutant(_TRIPLET, ("self.net(x_neg)", "self.net(x_pos)")),
}
