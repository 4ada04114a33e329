"""A distance between a tensor and itself is told; one that learns to be small, and one over zeros alone, is not."""

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
net = nn.Linear(6, 8)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(8):
    x, y = torch.randn(16, 6), torch.randn(16, 8)
    out = net(x)
    box_out, box_y = out[:, :5], y[:, :5]
    class_out, class_y = out[:, 5:], y[:, 5:]
    loss = F.mse_loss(box_out, box_y) + F.mse_loss(class_out, class_y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
ITSELF = ("class_out, class_y = out[:, 5:], y[:, 5:]", "class_out, class_y = out[:, 5:], out[:, 5:]")
DETACHED = ("class_out, class_y = out[:, 5:], y[:, 5:]", "class_out, class_y = out[:, 5:], out[:, 5:].detach()")
SUMMED = ("+ F.mse_loss(class_out, class_y)", "+ F.mse_loss(class_out, class_y, reduction='sum')")
ZEROS = ("class_out, class_y = out[:, 5:], y[:, 5:]", "class_out, class_y = 0 * out[:, 5:], 0 * y[:, 5:]")
A_COPY = (
    "class_out, class_y = out[:, 5:], y[:, 5:]",
    "class_out, class_y = out[:, 5:], out[:, 5:].detach().clone()",
)  # of a teacher that has not parted from its student yet
NONE_THERE = ("class_out, class_y = out[:, 5:], y[:, 5:]", "class_out, class_y = out[:0, 5:], y[:0, 5:]")
LINE = ("F.mse_loss(box_out, box_y) + F", "F.mse_loss(box_out, box_y)\n    loss = loss + F")


@pytest.mark.parametrize("edits", [(ITSELF,), (DETACHED,), (ITSELF, SUMMED)], ids=["itself", "detached", "summed"])
def test_a_distance_to_itself(host: Host, tmp_path: Path, edits: tuple[tuple[str, str], ...]) -> None:
    (found,) = failing(host, tmp_path, with_edits(PROGRAM, (*edits, LINE)), "loss_contract", 8)
    assert found.severity == "warning" and "is exactly 0 in each of the first 3 steps" in found.message
    assert found.line == 15


@pytest.mark.parametrize(
    "edits",
    [(), (ZEROS,), (NONE_THERE, SUMMED), (A_COPY,)],
    ids=["two things", "zeros", "no example has one", "a copy"],
)
def test_other_distances(host: Host, tmp_path: Path, edits: tuple[tuple[str, str], ...]) -> None:
    assert not failing(host, tmp_path, with_edits(PROGRAM, (*edits, LINE)), "loss_contract", 8)
