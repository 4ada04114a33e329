"""A maximum over the examples in place of each example's candidates is told; one over the candidates, or over pairs of a batch, is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing

pytest.importorskip("torch")

PROGRAM = """
import torch
from torch import nn

torch.manual_seed(0)
data = torch.utils.data.TensorDataset(torch.randn(96, 6))
net = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for (x,) in torch.utils.data.DataLoader(data, 8):
    score = net(x)
    apart = torch.cdist(score, score)
    loss = -(LOSS).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("loss", "count"),
    [
        ("score.max(0)[0]", 1),
        ("torch.min(score * 2, dim=-2).values", 1),
        ("score.T.max(1)[0]", 1),
        ("score.max(1)[0]", 0),
        ("score.T.max(0)[0]", 0),
        ("apart.max(0)[0]", 0),
        ("score.sum(1).max(0)[0]", 0),
        ("torch.stack([score, 2 * score]).min(0)[0]", 0),
    ],
)
def test_only_a_maximum_over_examples_is_told(host: Host, tmp_path: Path, loss: str, count: int) -> None:
    told = failing(host, tmp_path, PROGRAM.replace("LOSS", loss), "loss_contract", 12)
    told = [one for one in told if "axis of the examples" in one.message]
    assert [(one.severity, one.path, one.line) for one in told] == [("note", "program.py", 12)] * count, told
