"""Two inputs of one model that are equal in every call, though each was made by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing

pytest.importorskip("torch")

PROGRAM = """
import torch
from torch import nn

torch.manual_seed(0)


class Ripple(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.mix = nn.Embedding(40, 8), nn.Linear(16, 1)

    def forward(self, heads, tails, labels=None):
        return self.mix(torch.cat([self.embed(torch.stack(heads)).mean((0, 2)), self.embed(torch.stack(tails)).mean((0, 2))], 1))[:, 0]


net = Ripple()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
triples = torch.randint(40, (200, 2, 6, 2))
for step in range(20):
    rows = triples[torch.randint(200, (16,))]
    heads = [rows[:, hop, :, 0].clone() for hop in range(2)]
    tails = [rows[:, hop, :, TAIL].clone() for hop in range(2)]
    y = (rows[:, 0, 0, 0] > 19).float()
    loss = nn.functional.binary_cross_entropy_with_logits(net(heads, tails, labels=heads[0].clone()), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("tail", "count"), [("1", 0), ("0", 1)])
def test_tails_that_are_the_heads(host: Host, tmp_path: Path, tail: str, count: int) -> None:
    told = failing(host, tmp_path, PROGRAM.replace("TAIL", tail), "batch_as_seen", 20)
    assert [one.severity for one in told] == ["note"] * count, told
    assert all("'heads.0' and 'tails.0'" in one.message and "1 more such pair" in one.message for one in told), told
