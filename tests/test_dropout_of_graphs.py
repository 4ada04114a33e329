"""Dropout that evaluation does not switch off is told of models that take objects, and no plain batch, as well."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing, with_edits

pytest.importorskip("torch")

PROGRAM = """
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Graphs:
    def __init__(self, x, edges, graph_of):
        self.x, self.edges, self.graph_of = x, edges, graph_of


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(6, 16), nn.Linear(16, 3)

    def forward(self, graphs):
        x = torch.relu(self.first(graphs.x))
        x = torch.zeros(8, 16).index_add(0, graphs.graph_of, x)
        x = F.dropout(x, p=0.5, training=self.training)
        return self.second(x)


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(6):
    graphs = Graphs(torch.randn(40, 6), torch.randint(40, (2, 80)), torch.arange(40) // 5)
    loss = F.cross_entropy(net(graphs), torch.randint(3, (8,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    net.eval()
    with torch.no_grad():
        net(graphs)
    net.train()
"""
ALWAYS = (", training=self.training)", ")")


def test_dropout_without_regard_to_the_mode(host: Host, tmp_path: Path) -> None:
    (found,) = failing(host, tmp_path, with_edits(PROGRAM, (ALWAYS,)), "modes", 6)
    assert found.severity == "warning" and found.line == 22
    assert found.message.startswith(
        "dropout at program.py:22 drops values with probability 0.5 although Net is in evaluation mode"
    )


def test_dropout_by_the_mode(host: Host, tmp_path: Path) -> None:
    assert not failing(host, tmp_path, PROGRAM, "modes", 6)
