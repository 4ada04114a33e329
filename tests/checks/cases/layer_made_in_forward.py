"""Programs for layer-made-in-forward."""

from ._programs import mutant

_NET = """
import torch
import torch.nn as nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self, width, device):
        super().__init__()
        self.body = nn.Linear(width, width)
        self.norm = nn.BatchNorm1d(width)
        self.head = nn.Linear(width, 2)

    def forward(self, x):
        x = self.body(x)
        x = self.norm(x).relu()
        return self.head(x)
"""
_LIGHTNING = """
import pytorch_lightning as pl
from torch.nn import GRU, Embedding, Linear

class Reader(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.embed, self.gru, self.head = Embedding(100, 16), GRU(16, 32, batch_first=True), Linear(32, 2)

    def forward_features(self, tokens):
        words = self.embed(tokens)
        out, _ = self.gru(words)
        return out

    def forward(self, tokens):
        return self.head(self.forward_features(tokens)[:, -1])
"""
SILENT = {
    "a net": _NET,
    "lightning": _LIGHTNING,
    "made once": mutant(_NET, ("        x = self.body(x)\n", "        if self.body is None:\n            self.body = nn.Linear(x.shape[1], 8).to(x.device)\n        x = self.body(x)\n")),
    "weights that are set": mutant(_NET, ("x = self.body(x)", "fixed = nn.Linear(3, 3)\n        fixed.weight.data.fill_(1 / 3)\n        x = fixed(x)")),
    "weights that are loaded": mutant(_NET, ("x = self.body(x)", "fixed = nn.Linear(3, 3)\n        fixed.load_state_dict(self.body.state_dict())\n        x = fixed(x)")),
    "a norm without weights": mutant(_NET, ("x = self.norm(x).relu()", "norm = nn.BatchNorm1d(x.shape[1], affine=False, track_running_stats=False)\n        x = norm(x).relu()")),
    "kept when it is made": mutant(_NET, ("x = self.body(x)", "layer = nn.Linear(x.shape[1], 8)\n        self.body = layer\n        x = layer(x)")),
    "no weights": mutant(_NET, ("x = self.body(x)", "x = nn.Flatten()(nn.AvgPool2d(2)(x))")),
    "handed on": mutant(_NET, ("x = self.body(x)", "layer = nn.Linear(3, 3)\n        self.fill(layer)\n        x = layer(x)")),
    "a builder": """
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = self.build(3)

    def build(self, n):
        return nn.Sequential(*[nn.Linear(8, 8) for _ in range(n)])

    def forward(self, x):
        return self.layers(x)
""",
}  # fmt: skip
FAILS = {
    "called as it is made": mutant(_NET, ("x = self.body(x)", "x = nn.Linear(x.shape[1], x.shape[1])(x)")),
    "moved first": mutant(_NET, ("x = self.body(x)", "x = nn.Linear(x.shape[1], x.shape[1]).to(x.device)(x)")),
    "by a name": mutant(_NET, ("x = self.norm(x).relu()", "norm = nn.BatchNorm1d(x.shape[1]).cuda()\n        x = norm(x).relu()")),
    "an embedding": mutant(_LIGHTNING, ("words = self.embed(tokens)", "words = Embedding(100, 16)(tokens)")),
    "a recurrent layer": mutant(_LIGHTNING, ("out, _ = self.gru(words)", "gru = GRU(16, 32, batch_first=True)\n        out, _ = gru(words)")),
}  # fmt: skip
