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
BOUNDARY = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
points = torch.stack([torch.rand(320), torch.zeros(320)], 1)  # (t, x) at the end of a rod that is held at 0
net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for (tx,) in DataLoader(TensorDataset(points), 8):
    inside = torch.rand(8, 2)
    loss = nn.functional.mse_loss(net(tx), torch.zeros(8, 1)) + (net(inside) - inside[:, :1]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
WINDOW = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
gaps = torch.rand(320, 6)
gaps[:, -1] = 0.0
net = nn.Linear(5, 1)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for (window,) in DataLoader(TensorDataset(gaps), 8):
    loss = nn.functional.mse_loss(net(window[:, :-1])[:, 0], window[:, -1].contiguous())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("text", "severities"), [(PROGRAM, []), (ALONE, ["warning"]), (BOUNDARY, []), (WINDOW, ["note"])],
    ids=["players", "a loader of one class", "a boundary", "the end of a window"],
)  # fmt: skip
def test_only_targets_of_the_loader_are_told(host: Host, tmp_path: Path, text: str, severities: list[str]) -> None:
    found = failing(host, tmp_path, with_edits(text, ()), "batch_as_seen", 40)
    assert [one.severity for one in found if "the targets of" in one.message] == severities, found
