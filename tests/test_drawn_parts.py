"""Two samplers draw from one data set: indices that both have are told, though augmentation makes each batch another."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing

pytest.importorskip("torch")

PROGRAM = """
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, SubsetRandomSampler

torch.manual_seed(0)


class Pictures(Dataset):
    def __init__(self, augment):
        drawn = torch.Generator().manual_seed(1)
        self.data = torch.randn(240, 3, 6, 6, generator=drawn)
        self.labels, self.augment = (self.data[:, 0].mean((1, 2)) > 0).long(), augment

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        x = self.data[i]
        return (x + 0.1 * torch.randn(x.shape) if self.augment else x), self.labels[i]


train = DataLoader(Pictures(True), 12, sampler=SubsetRandomSampler(range(TRAINED)))
held = DataLoader(Pictures(False), 12, sampler=SubsetRandomSampler(range(192, 240)))
net = nn.Sequential(nn.Flatten(), nn.Linear(108, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(2):
    net.train()
    for x, y in train:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        right = sum(int((net(x).argmax(1) == y).sum()) for x, y in held)
"""


@pytest.mark.parametrize(
    ("trained", "severity"),
    [("192", []), ("216", ["warning"]), pytest.param("240", ["note"], marks=pytest.mark.twins)],
)
def test_indices_of_both_samplers(host: Host, tmp_path: Path, trained: str, severity: list[str]) -> None:
    told = failing(host, tmp_path, PROGRAM.replace("TRAINED", trained), "batch_as_seen", 80)
    assert [one.severity for one in told] == severity, told
    assert all("of 48 examples" in one.message for one in told)
