"""Two networks and a copy of each: one whose copies both follow the same network is told; what is meant so is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing, with_edits

pytest.importorskip("torch")

PROGRAM = """
import copy
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(8, 32), nn.Linear(32, 1)

    def forward(self, x):
        return self.out(torch.relu(self.hidden(x)))


q1, q2 = Critic(), Critic()
q1_target, q2_target = copy.deepcopy(q1), copy.deepcopy(q2)
optimizer = torch.optim.Adam([*q1.parameters(), *q2.parameters()], lr=0.003)
for step in range(40):
    states, rewards, after = torch.randn(64, 8), torch.randn(64, 1), torch.randn(64, 8)
    with torch.no_grad():
        target = rewards + 0.9 * torch.min(q1_target(after), q2_target(after))
    loss = F.mse_loss(q1(states), target) + F.mse_loss(q2(states), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for mine, its in zip(q1_target.parameters(), q1.parameters()):
            mine.lerp_(its, 0.01)
        for mine, its in zip(q2_target.parameters(), q2.parameters()):
            mine.lerp_(its, 0.01)
"""
SECOND = "zip(q2_target.parameters(), q2.parameters())"
OF_FIRST = SECOND.replace("q2.p", "q1.p")
COPIED = (
    "for mine, its in zip(q2_target.parameters(), q2.parameters()):\n            mine.lerp_(its, 0.01)",
    "if step % 3 == 2:\n            q2_target.load_state_dict(q1.state_dict())",
)
ALIKE = ("q1_target, q2_target", "q2.load_state_dict(q1.state_dict())\nq1_target, q2_target")


def accused(host: Host, folder: Path, *edits: tuple[str, str]) -> list[str]:
    found = failing(host, folder, with_edits(PROGRAM, edits), "parameter_table", 40)
    return [one.message for one in found if one.is_alarm]


@pytest.mark.parametrize("edit", [(SECOND, OF_FIRST), COPIED], ids=["softly", "as a whole"])
def test_a_copy_that_follows_the_network_of_another(host: Host, tmp_path: Path, edit: tuple[str, str]) -> None:
    (message,) = accused(host, tmp_path, edit)
    assert message.startswith(
        "the Critic updated at program.py:34 began as a copy of one network that trains, and is updated from another one"
    )
    assert "none that was seen follows the first network" in message


@pytest.mark.parametrize(
    "edits",
    [
        (),
        ((SECOND, OF_FIRST), ("zip(q1_target.parameters(), q1.parameters())", SECOND)),  # crossed on purpose
        ((SECOND, OF_FIRST), ("copy.deepcopy(q1), copy.deepcopy(q2)", "copy.deepcopy(q1), copy.deepcopy(q1)")),
        (ALIKE,),
    ],
    ids=["its own", "crossed", "two copies of one", "begun alike"],
)
def test_copies_that_are_meant_so(host: Host, tmp_path: Path, edits: tuple[tuple[str, str], ...]) -> None:
    assert not accused(host, tmp_path, *edits)
