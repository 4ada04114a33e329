"""A batch that is turned for training and not for evaluation is told; one that is turned for both, or for neither, is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing, with_edits

pytest.importorskip("torch")

PROGRAM = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.over, self.head = nn.GRU(5, 16), nn.Linear(16, 2)

    def forward(self, x):
        return self.head(self.over(x)[0])


def data(count):
    x = torch.randn(count, 7, 5)
    return DataLoader(TensorDataset(x, (x.cumsum(1)[:, :, 0] > 0).long()), 12)


net = Reader()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(3):
    net.train()
    for x, y in data(96):
        x, y = x.transpose(0, 1), y.T
        loss = nn.functional.cross_entropy(net(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    net.eval()
    right = 0
    with torch.no_grad():
        for x, y in data(48):
            x, y = x.transpose(0, 1), y.T
            right += (net(x).argmax(-1) == y).sum()
"""
NOT_IN_EVALUATION = ("            x, y = x.transpose(0, 1), y.T\n            right", "            right")
NOT_IN_TRAINING = ("        x, y = x.transpose(0, 1), y.T\n        loss", "        loss")


@pytest.mark.parametrize(
    ("edits", "count"),
    [
        ((), 0),
        ((NOT_IN_EVALUATION,), 1),
        ((NOT_IN_TRAINING, NOT_IN_EVALUATION), 0),
        ((NOT_IN_EVALUATION, ("    net.eval()\n", ""), ("with torch.no_grad()", "if True")), 1),
        ((NOT_IN_EVALUATION, ("7, 5)", "12, 5)")), 0),
    ],
    ids=["turned in both", "turned in training", "turned in neither", "evaluated in training mode", "as long as the batch"],
)  # fmt: skip
def test_only_a_batch_turned_in_one_is_told(
    host: Host, tmp_path: Path, edits: tuple[tuple[str, str], ...], count: int
) -> None:
    told = failing(host, tmp_path, with_edits(PROGRAM, edits), "batch_as_seen", 40)
    told = [one for one in told if "the other way round" in one.message]
    assert [one.severity for one in told] == ["warning"] * count, told
