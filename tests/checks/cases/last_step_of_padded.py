"""Programs for last-step-of-padded."""

from ._programs import mutant

_FIRST = """
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(32, 64, batch_first=True)
        self.dropout, self.head = nn.Dropout(0.1), nn.Linear(64, 5)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        packed, (h, _) = self.lstm(packed)
        out, _ = pad_packed_sequence(packed, batch_first=True)
        last = h[-1]
        return self.head(last)
"""
_TIME = """
import torch
from torch.nn.utils import rnn


def encode(gru, x, lengths):
    out = rnn.pad_packed_sequence(gru(rnn.pack_padded_sequence(x, lengths))[0])[0]
    return out[lengths - 1, torch.arange(len(lengths))]
"""
_LAST = ("last = h[-1]", "last = out[:, -1]")

SILENT = {
    "pooled before": mutant(_FIRST, ("last = h[-1]", "out = self.attention_pool(out)\n        last = out[:, -1]")),
    "summed before": mutant(_TIME, ("out[lengths - 1, torch.arange(len(lengths))]", "out.sum(0)[-1]")),
    "of nothing": """
def odd(packed):
    () = pad_packed_sequence(packed)
""",
    "the state": _FIRST,
    "by the lengths": _TIME,
    "all steps": mutant(_FIRST, ("last = h[-1]", "last = out.sum(1)")),
    "the first step": mutant(_FIRST, ("last = h[-1]", "last = out[:, 0]")),
    "the last feature": mutant(_FIRST, ("last = h[-1]", "last = out[:, :, -1]")),
    "the last example": mutant(_FIRST, ("last = h[-1]", "last = out[-1]")),
    "another by the name": mutant(_FIRST, ("last = h[-1]", "out = self.mix(x, h)\n        last = out[:, -1]")),
    "turned round": mutant(_FIRST, ("last = h[-1]", "out = out.flip(1)\n        last = out[:, -1]")),
    "by an option": mutant(_FIRST, _LAST, ("(packed, batch_first=True)", "(packed, batch_first=self.first)")),
}
FAILS = {
    "at the last place": mutant(_FIRST, _LAST),
    "with all features": mutant(_FIRST, ("last = h[-1]", "last = out[:, -1, :]")),
    "after dropout": mutant(_FIRST, ("last = h[-1]", "out = self.dropout(out)\n        last = out[:, -1]")),
    "time first": mutant(_TIME, ("out[lengths - 1, torch.arange(len(lengths))]", "out[-1]")),
    "at once": mutant(_FIRST, ("        last = h[-1]\n", ""), ("head(last)", "head(pad_packed_sequence(packed, batch_first=True)[0][:, -1])")),
}  # fmt: skip
