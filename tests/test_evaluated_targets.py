"""Targets on another scale where a model is evaluated: a question, for scores are often told in the units of the data."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing

pytest.importorskip("torch")

PROGRAM = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
small, large = torch.rand(160, 1, 6, 6), torch.rand(160, 1, 12, 12)
small = nn.functional.avg_pool2d(large, 2)
train = DataLoader(TensorDataset(small[:128], large[:128]), 8, shuffle=True)
held = DataLoader(TensorDataset(small[128:], large[128:] * SCALE), 1)
net = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Upsample(scale_factor=2), nn.Conv2d(8, 1, 3, padding=1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(2):
    net.train()
    for x, y in train:
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        error = sum(nn.functional.mse_loss(net(x), y).item() for x, y in held)
"""


@pytest.mark.parametrize(("scale", "count"), [("1", 0), ("255", 1)])
def test_targets_in_other_units(host: Host, tmp_path: Path, scale: str, count: int) -> None:
    told = failing(host, tmp_path, PROGRAM.replace("SCALE", scale), "batch_as_seen", 60)
    assert [one.severity for one in told] == ["note"] * count, told
    assert all("brought to that scale" in one.message for one in told)
