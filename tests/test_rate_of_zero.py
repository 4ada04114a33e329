"""A rate that is exactly 0 at first, for many steps, is a note; a warm-up that begins at 0 and leaves it is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing

pytest.importorskip("torch")

PROGRAM = """
import torch
from torch import nn

torch.manual_seed(0)
EPOCHS, BATCHES = 4, 8
model = nn.Linear(8, 4)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda count: RATE)
for epoch in range(EPOCHS):
    for step in range(BATCHES):
        loss = (model(torch.randn(8, 8)) - 1).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        PER_STEP
    PER_EPOCH
"""


@pytest.mark.parametrize(
    ("rate", "is_per_epoch", "is_told"),
    [
        ("count / EPOCHS", True, True),
        ("1 - count / EPOCHS", True, False),
        ("min(1, count / 10)", False, False),
        ("max(0, (count - 12) / 20)", False, True),
    ],
)
def test_a_rate_of_zero_at_first(host: Host, tmp_path: Path, rate: str, is_per_epoch: bool, is_told: bool) -> None:
    text = PROGRAM.replace("RATE", rate)
    text = text.replace("PER_STEP", "pass" if is_per_epoch else "schedule.step()")
    text = text.replace("PER_EPOCH", "schedule.step()" if is_per_epoch else "pass")
    found = failing(host, tmp_path, text, "learning_rate", 32)
    assert [one.severity for one in found] == ["note"] * is_told
    assert all("is exactly 0 at the first" in one.message and one.line == 9 for one in found)
