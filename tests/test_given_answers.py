"""Masked prediction that counts what is shown in place of what is hidden is told; the right way, and a copy of everything, are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing

pytest.importorskip("torch")

PROGRAM = """
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
HIDDEN = 20
net = nn.Sequential(nn.Embedding(21, 16), nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 20))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(12):
    words = torch.randint(20, (8, 15))
    hidden = torch.rand(8, 15) < 0.2
    tokens = torch.where(hidden, HIDDEN, words)
    scores = net(tokens)
    LOSS
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
WEIGHED = "loss = (F.cross_entropy(scores.flatten(0, 1), words.flatten(), reduction='none') * MASK.flatten()).sum() / MASK.sum()"
TURNED = "loss = (F.cross_entropy(scores.transpose(1, 2), words, reduction='none') * MASK).sum() / MASK.sum()"


@pytest.mark.parametrize(
    ("loss", "count"),
    [
        (WEIGHED.replace("MASK", "(tokens != HIDDEN)"), 1),
        (TURNED.replace("MASK", "(~hidden)"), 1),
        (WEIGHED.replace("MASK", "(tokens == HIDDEN)"), 0),
        ("loss = F.cross_entropy(scores.flatten(0, 1), torch.where(hidden, words, -100).flatten())", 0),
        ("loss = F.cross_entropy(scores.flatten(0, 1), words.flatten())", 0),
    ],
    ids=["shown", "shown, turned", "hidden", "ignored", "all"],
)
def test_only_what_is_shown(host: Host, tmp_path: Path, loss: str, count: int) -> None:
    found = failing(host, tmp_path, PROGRAM.replace("LOSS", loss), "loss_contract", 12)
    told = [one for one in found if "hidden from it" in one.message]
    assert [(one.severity, one.line) for one in told] == [("warning", 15)] * count, found
