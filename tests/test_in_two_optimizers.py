"""One of two optimizers that step in turns holds all that the other holds; shared parts, and phases, are none."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing, with_edits

pytest.importorskip("torch")

PLAYERS = """
import torch
from torch import nn

torch.manual_seed(0)


class Players(nn.Module):
    def __init__(self):
        super().__init__()
        self.generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
        self.critic = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))


model = Players()
first = torch.optim.Adam(model.generator.parameters(), lr=1e-3)
second = torch.optim.Adam(model.critic.parameters(), lr=1e-3)
for step in range(20):
    fake = model.generator(torch.randn(32, 4))
    loss = model.critic(fake.detach()).mean() - model.critic(torch.randn(32, 2) + 3).mean()
    second.zero_grad()
    loss.backward()
    second.step()
    first.zero_grad()
    (-model.critic(fake).mean()).backward()
    first.step()
"""
PHASES = """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
for parameters in (model[2].parameters(), model.parameters()):
    optimizer = torch.optim.Adam(parameters, lr=1e-3)
    for step in range(10):
        loss = (model(torch.randn(32, 4)) - 1).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
SHARED = (
    ("first = torch.optim.Adam(model.generator.parameters()", "first = torch.optim.Adam([*model.generator.parameters(), *model.critic[0].parameters()]"),
)  # fmt: skip


def said(host: Host, folder: Path, text: str, *edits: tuple[str, str]) -> list[str]:
    found = failing(host, folder, with_edits(text, edits), "parameter_table", 30)
    return [f"{one.severity}: {one.message}" for one in found if "step in turns" in one.message]


def test_a_player_that_is_stepped_by_the_other(host: Host, tmp_path: Path) -> None:
    (message,) = said(host, tmp_path, PLAYERS, ("Adam(model.generator.parameters()", "Adam(model.parameters()"))
    assert message.startswith(
        "note: all 4 parameters of the Adam built at program.py:17 are among the 8 of the Adam built at program.py:16"
    )


@pytest.mark.parametrize(
    ("text", "edits"),
    [(PLAYERS, ()), (PHASES, ()), (PLAYERS, SHARED)],
    ids=["each its own", "two phases", "a shared part"],
)
def test_each_has_its_own(host: Host, tmp_path: Path, text: str, edits: tuple[tuple[str, str], ...]) -> None:
    assert not said(host, tmp_path, text, *edits)
