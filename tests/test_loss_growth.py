"""A loss that multiplies and goes on to is an alarm; one that only rises, or grows with what it is to foretell, is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing, with_edits

pytest.importorskip("torch")

PERSONAL = """
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
shared, own = nn.Linear(16, 4), nn.Linear(16, 4)
optimizer = torch.optim.SGD(own.parameters(), lr=0.05)
right = torch.randn(16, 4)
for step in range(150):
    x = torch.randn(32, 16)
    loss = F.cross_entropy(own(x), (x @ right).argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for mine, its in zip(own.parameters(), shared.parameters()):
            mine -= 0.1 * (mine - its)
            its += 0.05 * (mine - its)
"""
WORTH = """
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(150):
    x = torch.randn(64, 8)
    returns = (1 + step) * 0.3 * x.sum(1, keepdim=True)
    loss = (net(x) - returns).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
LATE = """
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(150):
    x = torch.randn(64, 4)
    returns = (step > 90) * 100.0 * (x[:, 0] > 0) + 0.01 * torch.randn(64)
    loss = (net(x)[:, 0] - returns).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
INFORMATION = """
import torch

torch.manual_seed(0)
weight = torch.zeros((), requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=1e-3)
for step in range(120):
    loss = 0.01 - 0.05 * weight - 0.5 * weight.square()
    optimizer.zero_grad()
    loss.backward()
    optimizer.param_groups[0]["lr"] *= 1.06
    optimizer.step()
    if weight > 0.7:
        weight.data.clamp_(max=0.7)
"""
UPHILL = ("mine -= 0.1 * (mine - its)", "mine += 0.15 * (mine - its)")


def grown(host: Host, folder: Path, text: str, *edits: tuple[str, str]) -> list[str]:
    found = failing(host, folder, with_edits(text, edits), "loss_contract", 150)
    return [one.message for one in found if "diverges" in one.message]


def test_an_update_that_goes_away_from_what_it_is_drawn_to(host: Host, tmp_path: Path) -> None:
    (message,) = grown(host, tmp_path, PERSONAL, UPHILL)
    assert message.startswith("the loss that program.py:14 starts from grows from ")


@pytest.mark.parametrize(
    "text", [PERSONAL, WORTH, LATE], ids=["drawn together", "targets that grow", "a reward that is met late"]
)
def test_other_losses(host: Host, tmp_path: Path, text: str) -> None:
    assert not grown(host, tmp_path, text)


def test_a_small_loss_that_goes_below_zero(host: Host, tmp_path: Path) -> None:
    """As of mutual information, which begins near zero and has a bound above."""
    found = failing(host, tmp_path, INFORMATION, "loss_contract", 150)
    assert not [one for one in found if "no lower bound" in one.message], found
