"""Gradients that a function called in between clears are told; those of an input, of a sum, or behind which the weights move, are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing, with_edits

pytest.importorskip("torch")

PROGRAM = """
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)


def smoothness(x):
    said = net(x).softmax(1).detach()
    turned = (1e-2 * torch.randn_like(x)).requires_grad_()
    F.kl_div(net(x + turned).log_softmax(1), said, reduction="batchmean").backward()
    away = F.normalize(turned.grad)
    net.zero_grad()
    return F.kl_div(net(x + away).log_softmax(1), said, reduction="batchmean")


for step in range(12):
    x, more = torch.randn(16, 6), torch.randn(16, 6)
    loss = F.cross_entropy(net(x), x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    smoothness(more).backward()
    optimizer.step()
"""
TOGETHER = ("    loss.backward()\n    smoothness(more).backward()\n", "    (loss + smoothness(more)).backward()\n")
BEFORE = (
    "    loss.backward()\n    smoothness(more).backward()\n",
    "    smoothness(more).backward()\n    loss.backward()\n",
)
MOVED = (
    ("    smoothness(more).backward()\n", "    with torch.no_grad():\n        for p in net.parameters():\n            p.add_(0.05 * F.normalize(p.grad.flatten(), dim=0).view_as(p))\n    optimizer.zero_grad()\n    F.cross_entropy(net(x), x[:, :3].argmax(1)).backward()\n"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("edits", "count"),
    [((), 1), ((TOGETHER,), 0), ((BEFORE,), 0), (MOVED, 0)],
    ids=["wiped", "together", "before", "moved"],
)
def test_only_what_is_wiped_out_is_told(
    host: Host, tmp_path: Path, edits: tuple[tuple[str, str], ...], count: int
) -> None:
    found = failing(host, tmp_path, with_edits(PROGRAM, edits), "step_trace", 12)
    assert [(one.severity, one.line) for one in found] == [("note", 16)] * count, found
