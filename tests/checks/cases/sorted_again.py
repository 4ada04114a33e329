"""Programs for sorted-again."""

from ._programs import mutant

_TAGGER = """
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(100, 16)
        self.rnn = nn.LSTM(16, 16, batch_first=True, bidirectional=True)

    def features(self, sentences):
        lengths = sentences.gt(0).sum(1)
        sorted_lengths, perm_idx = lengths.sort(descending=True)
        embeds = self.embedding(sentences)
        embeds = embeds[perm_idx, :]
        packed = pack_padded_sequence(embeds, lengths=sorted_lengths, batch_first=True)
        packed_output, _ = self.rnn(packed)
        lstm_out, _ = pad_packed_sequence(packed_output, batch_first=True)
        _, unperm_idx = perm_idx.sort()
        lstm_out = lstm_out[unperm_idx, :]
        return lstm_out
"""
_SELECTED = """
import torch
from torch import nn

class Encoder(nn.Module):
    def forward(self, x, lens):
        order = torch.argsort(lens, descending=True)
        x = x.index_select(0, order)
        packed = nn.utils.rnn.pack_padded_sequence(x, lens[order], batch_first=True)
        _, hidden = self.gru(packed)
        back = torch.argsort(order)
        return hidden.index_select(1, back)
"""
_LABELS = """
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

def step(model, x, y, lengths, optimizer, loss_of):
    lengths, order = torch.sort(lengths, 0, True)
    packed = pack_padded_sequence(x[order], lengths.cpu(), batch_first=True)
    out, _ = pad_packed_sequence(model(packed), batch_first=True)
    loss = loss_of(out.mean(1), y[order])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
SILENT = {
    "a tagger": _TAGGER,
    "selected": _SELECTED,
    "sorted labels": _LABELS,
    "not brought back": mutant(_TAGGER, ("        _, unperm_idx = perm_idx.sort()\n        lstm_out = lstm_out[unperm_idx, :]\n", "")),
    "masks in the same order": mutant(_TAGGER, ("        return lstm_out", "        masks = sentences.gt(0)[perm_idx]\n        return lstm_out, masks")),
}  # fmt: skip
FAILS = {
    "a tagger": mutant(_TAGGER, ("        _, unperm_idx = perm_idx.sort()\n        lstm_out = lstm_out[unperm_idx, :]\n", "        lstm_out = lstm_out[perm_idx, :]\n")),
    "one axis": mutant(_TAGGER, ("        _, unperm_idx = perm_idx.sort()\n        lstm_out = lstm_out[unperm_idx, :]\n", "        lstm_out = lstm_out[perm_idx]\n")),
    "a state": mutant(_SELECTED, ("hidden.index_select(1, back)", "hidden.index_select(1, order)")),
    "a state by its axis": mutant(_SELECTED, ("hidden.index_select(1, back)", "hidden[:, order]")),
    "outputs": mutant(_LABELS, ("loss_of(out.mean(1), y[order])", "loss_of(out[order].mean(1), y)")),
}  # fmt: skip

SILENT["cut to the longest"] = """
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

def step(model, x, labels, lengths, loss_of):
    lengths, order = lengths.sort(descending=True)
    packed = pack_padded_sequence(x[order], lengths, batch_first=True)
    out, _ = pad_packed_sequence(model(packed), batch_first=True)
    labels = labels[:, : out.size(1)]
    mask = (x != 0)[:, : out.size(1)]
    loss_of(out, labels[order], mask[order]).backward()
"""
