"""A backward in the evaluation, with no step behind it, is told as that; training in evaluation mode is told as before."""

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


def run(model, loader, optimizer=None):
    total = 0.0
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        if optimizer is not None:
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        total += loss.item()
    return total


data = TensorDataset(torch.randn(96, 8), torch.randint(3, (96,)))
train, valid = DataLoader(data, 16), DataLoader(TensorDataset(torch.randn(64, 8), torch.randint(3, (64,))), 16)
model = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.1), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(4):
    model.train()
    run(model, train, optimizer)
    model.eval()
    run(model, valid)
"""
OUTSIDE = (
    "        if optimizer is not None:\n            loss.backward()\n",
    "        loss.backward()\n        if optimizer is not None:\n",
)
LEFT_SO = ("    model.train()\n    run(model, train, optimizer)\n", "    run(model, train, optimizer)\n")


def test_a_backward_of_the_evaluation(host: Host, tmp_path: Path) -> None:
    (found,) = failing(host, tmp_path, with_edits(PROGRAM, (OUTSIDE,)), "modes", 24)
    assert "with a backward behind each of" in found.message and "and no step" in found.message
    assert found.severity == "note" and found.line == 13


def test_training_in_evaluation_mode_is_told_as_that(host: Host, tmp_path: Path) -> None:
    (found,) = failing(host, tmp_path, with_edits(PROGRAM, (LEFT_SO,)), "modes", 24)
    assert "trains in evaluation mode from step" in found.message


def test_an_evaluation_without_a_backward(host: Host, tmp_path: Path) -> None:
    assert not failing(host, tmp_path, PROGRAM, "modes", 24)
