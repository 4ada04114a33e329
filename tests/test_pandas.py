"""Batches that are tables of pandas, which have the names of a dict's methods and are none, are watched as any others."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host

pytest.importorskip("torch")
pytest.importorskip("pandas")

from trainsleuth import probes

PROGRAM = """
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
DRAWN = np.random.default_rng(0)


class Table(Dataset):
    def __init__(self, size, start):
        rows = np.arange(start, start + size)
        self.x = pd.DataFrame(DRAWN.normal(size=(size, 3)), columns=["a", "b", "c"], index=rows)
        self.y = pd.Series((self.x.a > 0).astype(int), index=rows)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, place):
        return self.x.iloc[place : place + 1], self.y.iloc[place : place + 1]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 2))

    def forward(self, table):
        return self.body(torch.tensor(table.to_numpy(), dtype=torch.float32))


def joined(rows):
    return tuple(pd.concat(part) for part in zip(*rows))


train = DataLoader(Table(96, 7), batch_size=8, shuffle=True, collate_fn=joined)
held = DataLoader(Table(48, 500), batch_size=8, collate_fn=joined)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(2):
    net.train()
    for x, y in train:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), torch.tensor(y.to_numpy())).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        right = sum(int((net(x).argmax(1).numpy() == y.to_numpy()).sum()) for x, y in held)
"""


def test_tables_are_watched_to_the_end(host: Host, tmp_path: Path) -> None:
    program = tmp_path / "tables.py"
    program.write_text(PROGRAM)
    trace, ended = host.run(program, tmp_path, dict(probes.EXPERIMENTS["observe"]))
    assert ended["code"] == 0, ended["output"]
    assert not trace.hooks_missing and trace.steps == 24
    assert [one for one in probes.judge("observe", trace) if one.is_alarm] == []
