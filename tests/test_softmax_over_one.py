"""A softmax over an axis of length one gives ones, and what it was meant to weigh never learns."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing

pytest.importorskip("torch")

PROGRAM = """
import torch
from torch import nn

torch.manual_seed(0)


class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts, self.weigh, self.head = nn.Linear(6, 24), nn.Linear(6, 3), nn.Linear(8, 3)

    def forward(self, x):
        parts = self.parts(x).view(-1, 3, 8).tanh()
        weights = self.weigh(x)[..., None]
        weights = weights.softmax(AXIS)
        return self.head((weights * parts).sum(1))


net = Mixture()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(12):
    x = torch.randn(16, 6)
    loss = nn.functional.cross_entropy(net(x), x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("axis", "count"), [("1", 0), ("-1", 1)])
def test_only_the_axis_of_length_one_is_told(host: Host, tmp_path: Path, axis: str, count: int) -> None:
    text = PROGRAM.replace("AXIS", axis)
    told = failing(host, tmp_path, text, "loss_contract", 12)
    assert [one.severity for one in told] == ["note"] * count, told
    for one in told:
        assert "gives 1 whatever it gets" in one.message and "softmax(-1)" in text.splitlines()[(one.line or 0) - 1]
