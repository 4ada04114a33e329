"""Columns of a table that change nothing are told; tables that are read in full, and columns that hold one value, are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing, with_edits

pytest.importorskip("torch")

PROGRAM = """
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class Additive(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1)) for _ in range(10)])

    def forward(self, x):
        return torch.cat([self.parts[i](x[:, i : i + 1]) for i in range(10)], 1).sum(1)


table = torch.randn(256, 10)
answers = (table.sum(1) > 0).float()
model = Additive()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for x, y in DataLoader(TensorDataset(table, answers), batch_size=16, shuffle=True):
    loss = F.binary_cross_entropy_with_logits(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
FIRST = ("x[:, i : i + 1]", "x[:, 0:1]")
TOO_SOON = ("x[:, i : i + 1]", "x[:, i % 9 : i % 9 + 1]")
CONSTANT = ("table = torch.randn(256, 10)", "table = torch.randn(256, 10)\ntable[:, 4:] = 1")


@pytest.mark.parametrize(
    ("edit", "severity", "said"),
    [(FIRST, "note", "9 of the 10 columns that enter it (1, 2, 3, 4, 5 to 9)"), (TOO_SOON, "note", "1 of the 10 columns that enter it (9)")],
)  # fmt: skip
def test_columns_without_effect(host: Host, tmp_path: Path, edit: tuple[str, str], severity: str, said: str) -> None:
    (found,) = failing(host, tmp_path, with_edits(PROGRAM, (edit,)), "input_matters", 16)
    assert found.severity == severity and said in found.message


@pytest.mark.parametrize("edits", [(), (CONSTANT,)], ids=["all are read", "most hold one value"])
def test_columns_that_are_read(host: Host, tmp_path: Path, edits: tuple[tuple[str, str], ...]) -> None:
    assert not failing(host, tmp_path, with_edits(PROGRAM, edits), "input_matters", 16)
