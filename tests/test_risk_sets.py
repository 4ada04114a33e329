"""A survival loss compares each patient with all at risk by a mask of pairs: no column that met a row by mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing

pytest.importorskip("torch")

PROGRAM = """
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
x = torch.randn(64, 4)
time = torch.exp(-x[:, :1] + 0.1 * torch.randn(64, 1))
event = (torch.rand(64, 1) < 0.7).float()
for step in range(12):
    risk = net(x)
    at_risk = (time.T >= time).float()
    LOSS
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
COX = """hazard = (risk.exp() * at_risk.T).sum(0) / at_risk.sum(1)
    loss = -((risk - hazard.log().reshape(-1, 1)) * event).sum() / event.sum()"""
MET_A_ROW = "loss = (risk - time.log()[:, 0]).pow(2).mean()"
CANCELS = COX.replace("* at_risk.T).sum(0) / at_risk.sum(1)", "* at_risk.T).sum(1) / at_risk.sum(0)")


@pytest.mark.parametrize(("added", "severity"), [("", "note"), (" + 2", "warning")])
def test_a_loss_that_cancels_itself_is_told(host: Host, tmp_path: Path, added: str, severity: str) -> None:
    """Around 0 it may be a reward that is still to come, or advantages whose mean is 0."""
    text = (
        PROGRAM.replace("LOSS", CANCELS + added)
        .replace("range(12)", "range(40)")
        .replace("event = (torch.rand(64, 1) < 0.7)", "event = (x[:, :1] < 9)")
    )
    (told,) = failing(host, tmp_path, text, "loss_contract", 40)
    assert told.severity == severity and "in all 40 steps" in told.message, told


@pytest.mark.parametrize(("loss", "count"), [(COX, 0), (MET_A_ROW, 1)])
def test_a_mask_of_pairs_is_meant(host: Host, tmp_path: Path, loss: str, count: int) -> None:
    told = failing(host, tmp_path, PROGRAM.replace("LOSS", loss), "loss_contract", 12)
    assert len(told) == count and all("meets all" in one.message for one in told), told
