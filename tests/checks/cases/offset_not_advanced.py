"""Programs for offset-not-advanced."""

from ._programs import mutant

_BLOCKS = """
import numpy as np
import torch

def pad(matrices, device):
    shapes = [m.shape for m in matrices]
    out = np.zeros((sum(s[0] for s in shapes), sum(s[1] for s in shapes)))
    i, j = 0, 0
    for k, matrix in enumerate(matrices):
        m, n = shapes[k]
        out[i : i + m, j : j + n] = matrix
        i += m
        j += n
    return torch.FloatTensor(out).to(device)
"""
_BATCHES = """
import torch

def train(model, x, y, optimizer, size):
    start = 0
    while start < len(x):
        loss = (model(x[start : start + size]) - y[start : start + size]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        start += size
"""
_SPLIT = """
import torch

class Flat:
    def load(self, vector):
        offset = 0
        for parameter in self.parameters:
            count = parameter.numel()
            parameter.data.copy_(vector[offset : offset + count].view_as(parameter))
            offset = offset + count
"""
SILENT = {
    "blocks": _BLOCKS,
    "batches": _BATCHES,
    "a vector": _SPLIT,
    "by a range": mutant(_BATCHES, ("    start = 0\n    while start < len(x):\n", "    for start in range(0, len(x), size):\n"), ("        start += size\n", "")),
    "one window for all": mutant(_BATCHES, ("def train(model, x, y, optimizer, size):\n    start = 0\n", "def train(model, x, y, optimizer, size, start=0):\n"), ("        start += size\n", "")),
    "moved by the outer loop": """
import torch

def epochs(model, x, step, size):
    start = 0
    for epoch in range(10):
        for again in range(3):
            step(model, x[start : start + size])
        start += size
""",
}  # fmt: skip
FAILS = {
    "a column": mutant(_BLOCKS, ("        j += n\n", "")),
    "a row": mutant(_BLOCKS, ("        i += m\n", "")),
    "a batch": mutant(_BATCHES, ("        start += size\n", "")),
    "a vector": mutant(_SPLIT, ("            offset = offset + count\n", "")),
    "begun again": mutant(_SPLIT, ("        offset = 0\n", ""), ("            count = parameter.numel()\n", "            count = parameter.numel()\n            offset = 0\n"), ("            offset = offset + count\n", "")),
}  # fmt: skip

SILENT["a length"] = """
import torch

def train(model, loader, optimizer, loss_of):
    seq_len, pred_len, pad, h = 96, 24, 4, 32
    for batch in loader:
        wanted = batch[:, seq_len : seq_len + pred_len]
        shown = batch[:, :, pad : pad + h]
        loss = loss_of(model(shown), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
