"""Programs for window-is-its-own-target."""

from ._programs import mutant

_LINES = """
import torch

def get_batch(args, source, i):
    seq_len = min(args.bptt, len(source) - 1 - i)
    data = source[i:i + seq_len]
    target = source[i + 1:i + 1 + seq_len]
    return data, target
"""
_DATASET = """
import torch
from torch.utils.data import Dataset

class Windows(Dataset):
    def __init__(self, series, length, horizon):
        self.series, self.length, self.horizon = series, length, horizon

    def __len__(self):
        return len(self.series) - self.length - self.horizon

    def __getitem__(self, index):
        x = torch.tensor(self.series[index:index + self.length], dtype=torch.float32)
        y = torch.tensor(self.series[index + 1:index + 1 + self.length], dtype=torch.float32)
        return x, y
"""
_TOKENS = """
import torch

def batches(data, size, length):
    for i in range(0, len(data) - 1, length):
        inputs = data[:, i:i + length]
        labels = data[:, i + 1:i + length + 1].reshape(-1)
        yield inputs, labels
"""
_TAIL = """
import torch

def pairs(series, width):
    out = []
    for start in range(len(series) - width - 1):
        window = series[start:start + width]
        y = series[start + width:start + width + 1]
        out.append((window, y))
    return torch.tensor(out)
"""
SILENT = {
    "lines": _LINES,
    "a data set": _DATASET,
    "tokens": _TOKENS,
    "the next value": _TAIL,
    "in other loops": """
import torch

def split(x, i, n):
    for k in range(3):
        part = x[i:i + n]
    for k in range(3):
        y = x[i:i + n]
    return torch.stack([part, y])
""",
    "an autoencoder that says so": """
import torch

def pair(x, i, n):
    window = x[i:i + n]
    return torch.tensor(window), torch.tensor(window)
""",
}
FAILS = {
    "lines": mutant(_LINES, ("source[i + 1:i + 1 + seq_len]", "source[i:i + seq_len]")),
    "a data set": mutant(_DATASET, ("self.series[index + 1:index + 1 + self.length]", "self.series[index:index + self.length]")),
    "tokens": mutant(_TOKENS, ("data[:, i + 1:i + length + 1]", "data[:, i:i + length]")),
    "the input a step later, too": mutant(_LINES, ("data = source[i:i + seq_len]", "data = source[i + 1:i + 1 + seq_len]")),
    "of a window": mutant(_TAIL, ("series[start + width:start + width + 1]", "series[start:start + width]")),
}  # fmt: skip
