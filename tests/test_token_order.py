"""A model with attention that has no sense of order is asked about; one that has it, or is causal, or has no attention, is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing, with_edits

pytest.importorskip("torch")

PROGRAM = """
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.places = nn.Embedding(40, 16), nn.Embedding(12, 16)
        self.encoder = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        self.head = nn.Linear(16, 3)

    def forward(self, tokens):
        x = self.embed(tokens) + self.places.weight
        return self.head(self.encoder(x, src_key_padding_mask=tokens == 0).mean(1))


tokens = torch.randint(1, 40, (256, 12))
tokens[:64, 8:] = 0
labels = (tokens[:, 3] > tokens[:, 7]).long()
model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for x, y in DataLoader(TensorDataset(tokens, labels), batch_size=16, shuffle=True):
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
NOT_ADDED = ("self.embed(tokens) + self.places.weight", "self.embed(tokens)")
FIRST = ("mask=tokens == 0).mean(1)", "mask=tokens == 0)[:, 0]")
CAUSAL = ("src_key_padding_mask=tokens == 0", "torch.triu(torch.full((12, 12), float('-inf')), 1)")
A_BAG = ("self.encoder(x, src_key_padding_mask=tokens == 0)", "x")
NO_ATTENTION = ("nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)", "None")


def told(host: Host, folder: Path, *edits: tuple[str, str]) -> list[str]:
    found = failing(host, folder, with_edits(PROGRAM, edits), "input_matters", 16)
    return [f"{one.severity}: {one.message}" for one in found]


@pytest.mark.parametrize("edits", [(NOT_ADDED,), (NOT_ADDED, FIRST)], ids=["averaged", "at a first token"])
def test_positions_that_are_not_added(host: Host, tmp_path: Path, edits: tuple[tuple[str, str], ...]) -> None:
    (message,) = told(host, tmp_path, *edits)
    assert message.startswith("note: Reader called at program.py:")
    assert "whatever the order of the tokens" in message


@pytest.mark.parametrize(
    "edits",
    [(), (FIRST,), (NOT_ADDED, CAUSAL), (NOT_ADDED, A_BAG, NO_ATTENTION)],
    ids=["added", "at a first token", "causal", "a bag of words"],
)
def test_models_that_are_meant_so(host: Host, tmp_path: Path, edits: tuple[tuple[str, str], ...]) -> None:
    assert not told(host, tmp_path, *edits)
