"""A predicted class that is taken over another axis than that of the classes is told; one over the right axis, in any layout, is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing

pytest.importorskip("torch")

PROGRAM = """
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 4))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(12):
    net.train()
    x = torch.randn(8, 6, 5)
    y = x[:, :, :4].argmax(2)
    scores = net(x)
    loss = nn.functional.cross_entropy(LOSS)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    net.eval()
    with torch.no_grad():
        scores = net(x)
        best = PICK
        right = (best == y.new_zeros(best.shape)).sum()
"""
FLAT, TURNED = "scores.reshape(-1, 4), y.reshape(-1)", "scores.transpose(1, 2), y"


@pytest.mark.parametrize(
    ("loss", "pick", "count"),
    [
        (FLAT, "scores.argmax(1)", 1),
        (TURNED, "torch.max(scores.softmax(-1), dim=1)[1].cpu()", 1),
        (TURNED, "scores.argmax(dim=-2)", 1),
        (TURNED, "scores.max(1)[0]", 0),
        (TURNED, "scores[:, 1:].argmax(1)", 0),
        (FLAT, "scores.argmax(-1)", 0),
        (TURNED, "scores.transpose(1, 2).argmax(1)", 0),
        (FLAT, "scores.max()", 0),
        (FLAT, "scores.square().argmax(1)", 0),
    ],
)
def test_only_another_axis_is_told(host: Host, tmp_path: Path, loss: str, pick: str, count: int) -> None:
    told = failing(host, tmp_path, PROGRAM.replace("LOSS", loss).replace("PICK", pick), "shapes", 20)
    assert [(one.severity, one.line) for one in told] == [("note", 20)] * count, told
