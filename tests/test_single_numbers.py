"""A loss of two single numbers, as in an actor and critic that learn step by step, is judged and not stumbled over."""

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
critic = nn.Linear(4, 1)
optimizer = torch.optim.Adam(critic.parameters(), lr=0.01)
for step in range(12):
    losses = [F.smooth_l1_loss(critic(torch.randn(4))[0], torch.tensor(float(reward))) for reward in range(4)]
    optimizer.zero_grad()
    torch.stack(losses).sum().backward()
    optimizer.step()
"""


def test_numbers_without_axes(host: Host, tmp_path: Path) -> None:
    assert not failing(host, tmp_path, PROGRAM, "loss_contract", 12)
