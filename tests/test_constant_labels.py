"""Labels of real and generated examples are each one value, and so are those of a folder of pictures: a GAN has no constant targets."""

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
folder = TensorDataset(torch.randn(320, 4), torch.zeros(320, dtype=torch.long))
maker, judge = nn.Linear(3, 4), nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1), nn.Sigmoid())
of_maker = torch.optim.Adam(maker.parameters(), lr=1e-3)
of_judge = torch.optim.Adam(judge.parameters(), lr=1e-3)
criterion, label = nn.BCELoss(), torch.empty(8)
for x, _ in DataLoader(folder, 8, shuffle=True):
    of_judge.zero_grad()
    label.fill_(1)
    criterion(judge(x)[:, 0], label).backward()
    made = maker(torch.randn(8, 3))
    label.fill_(0)
    criterion(judge(made.detach())[:, 0], label).backward()
    of_judge.step()
    of_maker.zero_grad()
    label.data.fill_(1)
    criterion(judge(made)[:, 0], label).backward()
    of_maker.step()
"""
ALONE = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data = TensorDataset(torch.randn(320, 4), torch.zeros(320))
net = nn.Linear(4, 1)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for x, y in DataLoader(data, 8):
    loss = nn.functional.binary_cross_entropy_with_logits(net(x)[:, 0], y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("text", "count"), [(PROGRAM, 0), (ALONE, 1)], ids=["players", "a loader of one class"])
def test_only_targets_of_the_loader_are_told(host: Host, tmp_path: Path, text: str, count: int) -> None:
    found = failing(host, tmp_path, with_edits(text, ()), "batch_as_seen", 40)
    assert len([one for one in found if "throughout" in one.message]) == count, found
