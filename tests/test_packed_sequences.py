"""A recurrent layer that a program gives packed sequences by itself gets the steps of all of them as rows: they are no examples."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing

pytest.importorskip("torch")

PROGRAM = """
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

torch.manual_seed(0)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.memory, self.head = nn.Embedding(20, 16), nn.LSTM(16, 16, batch_first=True), nn.Linear(16, 3)

    def loss(self, tokens, tags):
        lengths, order = tokens.gt(0).sum(1).sort(descending=True)
        packed = pack_padded_sequence(self.embed(tokens)[order], lengths, batch_first=True)
        out, _ = pad_packed_sequence(self.memory(packed)[0], batch_first=True, total_length=tokens.shape[1])
        return F.cross_entropy(self.head(out[order.argsort()]).flatten(0, 1), tags.flatten(), ignore_index=-1)


net = Tagger()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(30):
    tokens = torch.randint(1, 20, (16, 9))
    lengths = torch.randint(3, 10, (16,))
    tokens[torch.arange(9) >= lengths[:, None]] = 0
    tags = torch.where(tokens > 0, tokens % 3, -1)
    loss = net.loss(tokens, tags)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("probe", ["independence", "input_matters"])
def test_steps_are_no_examples(host: Host, tmp_path: Path, probe: str) -> None:
    assert not failing(host, tmp_path, PROGRAM, probe, 30)
