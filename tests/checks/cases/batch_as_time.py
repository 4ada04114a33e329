"""Programs for batch-as-time."""

from ._programs import mutant

_LAST = """
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.embed = nn.Embedding(100, 16)
        self.rnn = nn.LSTM(16, hidden, num_layers=2, batch_first=True)
        self.head = nn.Linear(hidden, 2)

    def forward(self, tokens):
        x = self.embed(tokens)
        out, (h, c) = self.rnn(x)
        return self.head(out[:, -1, :])
"""
_ENCODER = """
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, 4, batch_first=True), 2)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.encoder(x).mean(dim=1))
"""
_ATTENTION = """
# file: layers.py
from torch import nn


def attention(width):
    return nn.MultiheadAttention(width, 4, batch_first=True)

# file: model.py
import torch
from torch import nn

from layers import attention


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attend = attention(width)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        mixed = self.attend(x, x, x)[0]
        return self.head(torch.mean(mixed, 1))
"""
_TIME = mutant(_LAST, (", batch_first=True", ""))
SILENT = {
    "the last step": _LAST,
    "an average": _ENCODER,
    "made by a function": _ATTENTION,
    "by its place": mutant(_LAST, ("num_layers=2, batch_first=True", "2, True, True")),
    "a setting decides": mutant(
        _LAST,
        ("def __init__(self, hidden)", "def __init__(self, hidden, first)"),
        ("batch_first=True", "batch_first=first"),
    ),
    "time first, and so taken": mutant(_TIME, ("out[:, -1, :]", "out[-1]")),
    "time first, turned before": mutant(_TIME, ("x = self.embed(tokens)", "x = self.embed(tokens).transpose(0, 1)")),
    "time first, turned in the call": mutant(_TIME, ("self.rnn(x)", "self.rnn(x.permute(1, 0, 2))")),
    "time first, turned after": mutant(
        _TIME, ("        return self.head", "        out = out.transpose(0, 1)\n        return self.head")
    ),
    "the last state": mutant(_TIME, ("out[:, -1, :]", "h[-1]")),
    "packed, and padded with the batch first": mutant(
        _TIME,
        ("self.rnn(x)", "self.rnn(nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True))"),
        (
            "        return self.head",
            "        out, _ = nn.utils.rnn.pad_packed_sequence(out, batch_first=True)\n        return self.head",
        ),
        ("forward(self, tokens)", "forward(self, tokens, lengths)"),
    ),
    "another output": mutant(
        _TIME,
        (
            "        return self.head(out[:, -1, :])",
            "        states = self.embed(tokens)\n        return self.head(out[-1] + states[:, -1, :])",
        ),
    ),
    "features along axis 2": mutant(_TIME, ("out[:, -1, :]", "out[:, :, -1]")),
}
FAILS = {
    "the last step": _TIME,
    "written as False": mutant(_LAST, ("batch_first=True", "batch_first=False")),
    "an average": mutant(_ENCODER, (", batch_first=True", "")),
    "made by a function": mutant(_ATTENTION, (", batch_first=True", "")),
    "taken in the statement of the call": """
from torch import nn


def build(width):
    return nn.GRU(width, width, bidirectional=True)


def encode(x, width=8):
    gru = build(width)
    return gru(x)[0][:, 0]
""",
}
