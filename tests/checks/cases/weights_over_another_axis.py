"""Programs for weights-over-another-axis."""

from ._programs import mutant

_TRIPLE = """
import torch
import torch.nn.functional as F

def similarity(features, centers, classes, k, gamma):
    sim = features.matmul(centers).reshape(-1, classes, k)
    prob = F.softmax(sim * gamma, dim=2)
    return torch.sum(prob * sim, dim=2)
"""
_POOL = """
import torch
from torch import nn

class Pool(nn.Module):
    def forward(self, h, mask):
        scores = self.score(torch.tanh(self.hidden(h))).masked_fill(mask, -1e9)
        alpha = scores.softmax(1)
        return (alpha * h).sum(1)
"""
_LAST = """
import torch

def read(scores, values):
    weights = torch.softmax(scores, -1)
    return (values * weights).sum(dim=-1)
"""
SILENT = {
    "an overlap with masks": """
import torch

def dice(logits, target):
    probs = torch.softmax(logits, dim=1)
    overlap = (probs * target).sum(2)
    return 1 - overlap.mean()
""",
    "how much each expert gets": """
import torch

def load(scores, cost):
    gates = torch.softmax(scores, dim=1)
    return (gates * cost).sum(0)
""",
    "triple": _TRIPLE,
    "pool": _POOL,
    "last": _LAST,
    "from the front and from the back": mutant(
        _TRIPLE, ("torch.sum(prob * sim, dim=2)", "torch.sum(prob * sim, dim=-1)")
    ),
    "another shape": mutant(
        _POOL,
        ("        return (alpha", "        alpha = alpha.unsqueeze(1)\n        return (alpha"),
        ("sum(1)", "sum(2)"),
    ),
    "another shape where it is used": mutant(_POOL, ("(alpha * h).sum(1)", "(alpha.transpose(1, 2) * h).sum(2)")),
    "not multiplied": mutant(_TRIPLE, ("torch.sum(prob * sim, dim=2)", "torch.sum(prob, dim=1)")),
    "an entropy": mutant(_LAST, ("(values * weights).sum(dim=-1)", "-(weights * weights.log()).sum(dim=-1)")),
}
FAILS = {
    "over the classes": mutant(_TRIPLE, ("gamma, dim=2", "gamma, dim=1")),
    "summed over the classes": mutant(_TRIPLE, ("prob * sim, dim=2", "prob * sim, dim=1")),
    "over features": mutant(_POOL, ("scores.softmax(1)", "scores.softmax(2)")),
    "over examples": mutant(_POOL, ("scores.softmax(1)", "scores.softmax(dim=0)")),
    "one axis before the last": mutant(_LAST, ("softmax(scores, -1)", "softmax(scores, -2)")),
}
