"""A loss that lowers the scores of the labels is told; losses that raise them, and those that do not look at them, are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing
from twins import one_in

pytest.importorskip("torch")

PROGRAM = """
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(480, 6)
data = TensorDataset(x, x[:, :4].argmax(1))
net = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 5))
optimizer = torch.optim.Adam(net.parameters(), lr=0.003)
for x, y in DataLoader(data, batch_size=16, shuffle=True):
    scores = net(x)
    p = scores.softmax(1).gather(1, y[:, None])[:, 0]
    loss = LOSS
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
DOWN = {
    "a focus on what is likely": ("(-(p**3) * p.log()).mean()", "warning"),
    "a sign": ("-F.cross_entropy(scores, y)", "warning"),
    "a margin the wrong way": ("F.relu(1 + scores.gather(1, y[:, None]) - scores).sum(1).mean()", "note"),
    "distances, which are to be small": ("F.cross_entropy(-scores, y)", "note"),
}
HEALTHY = {
    "cross entropy": "F.cross_entropy(scores, y)",
    "a focal loss": "(-((1 - p) ** 2) * p.log()).mean()",
    "squared distances to a table": "F.mse_loss(scores.softmax(1), F.one_hot(y, 5).float())",
    "a margin": "F.multi_margin_loss(scores, y)",
    "pictures of the same class are near": "(torch.cdist(scores, scores) - 2.0 * (y[:, None] != y[None])).pow(2).mean()",
}


@pytest.mark.parametrize("name", DOWN)
def test_labels_that_are_pushed_down(host: Host, tmp_path: Path, name: str) -> None:
    loss, severity = DOWN[name]
    told = failing(host, tmp_path, PROGRAM.replace("LOSS", loss), "loss_contract", 30)
    assert [one.severity for one in told if "lowers the scores" in one.message] == [severity], told


@pytest.mark.parametrize("name", one_in(2, HEALTHY))
def test_labels_that_are_pushed_up_or_left_alone(host: Host, tmp_path: Path, name: str) -> None:
    told = failing(host, tmp_path, PROGRAM.replace("LOSS", HEALTHY[name]), "loss_contract", 30)
    assert not any("lowers the scores" in one.message for one in told), told
