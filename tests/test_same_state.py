"""A decoder that begins each step from the same state is told; one that hands its state on, or reads a whole sequence, is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing, with_edits

pytest.importorskip("torch")

PROGRAM = """
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.reader, self.writer = nn.Embedding(20, 16), nn.GRU(16, 16), nn.GRU(16, 16)
        self.head = nn.Linear(16, 20)

    def forward(self, source, wanted):
        _, state = self.reader(self.embed(source))
        said = []
        for word in wanted:
            out, left = self.writer(self.embed(word)[None], state)
            said.append(self.head(out[0]))
        return torch.stack(said)


net = Translator()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(12):
    words = torch.randint(20, (8, 16))
    loss = F.cross_entropy(net(words, words).flatten(0, 1), words.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
HANDED = ("out, left =", "out, state =")
WHOLE = (
    ("        for word in wanted:\n            out, left = self.writer(self.embed(word)[None], state)\n            said.append(self.head(out[0]))\n        return torch.stack(said)", "        return self.head(self.writer(self.embed(wanted), state)[0])"),
)  # fmt: skip


@pytest.mark.parametrize(("edits", "count"), [((), 1), ((HANDED,), 0), (WHOLE, 0)], ids=["lost", "handed on", "whole"])
def test_only_a_lost_state_is_told(host: Host, tmp_path: Path, edits: tuple[tuple[str, str], ...], count: int) -> None:
    found = failing(host, tmp_path, with_edits(PROGRAM, edits), "activations", 12)
    told = [one for one in found if "same state" in one.message]
    assert [(one.severity, one.line) for one in told] == [("note", 28)] * count, found
