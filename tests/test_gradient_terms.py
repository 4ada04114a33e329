"""A penalty of gradients without a graph is told; one with a graph, a weight of a term, and weights that move by them are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing, with_edits

pytest.importorskip("torch")

PROGRAM = """
import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(3, 16), nn.Softplus(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=0.001)


def penalty(x):
    x = x.clone().requires_grad_()
    score = critic(x)
    slope = torch.autograd.grad(score.sum(), x)[0]
    return (slope.norm(dim=1) - 1).square().mean()


for step in range(12):
    real, made = torch.randn(16, 3), torch.randn(16, 3) + 1
    loss = critic(made).mean() - critic(real).mean()
    loss = loss + 10 * penalty(real)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
WEIGHT = ("loss + 10 * penalty(real)", "loss + penalty(real) * critic(real).square().mean()")
MOVED = (
    "loss + 10 * penalty(real)",
    "loss + (critic[2].bias - 0.1 * torch.autograd.grad(loss, critic[2].bias, retain_graph=True)[0]).square().sum()",
)
HINGE = ("loss = loss + 10 * penalty(real)", "loss = loss + (critic(real).mean() - penalty(real)).abs()")
DEVICE = (
    ("torch.manual_seed(0)", "torch.manual_seed(0)\ntorch.set_default_device('cpu')"),
    ("    optimizer.step()\n", "    optimizer.step()\n    torch.set_default_device('cpu')\n"),
)
TOLD = ("loss = loss + 10 * penalty(real)", "print(float(loss + penalty(real)))")


@pytest.mark.parametrize(
    ("edits", "count"),
    [
        ((), 1),
        ((("loss = loss + 10 *", "loss += 10 *"),), 1),
        ((("score.sum(), x)", "score.sum(), x, create_graph=True)"),), 0),
        ((WEIGHT,), 0),
        ((MOVED,), 0),
        ((TOLD,), 0),
        ((HINGE,), 0),
        (DEVICE, 0),  # not heard there: a mode of torch's own lies around it, which ours must not come below
    ],
    ids=["no graph", "in place", "graph", "weight", "moved", "only told", "a limit", "a default device"],
)
def test_only_a_penalty_without_a_graph_is_told(
    host: Host, tmp_path: Path, edits: tuple[tuple[str, str], ...], count: int
) -> None:
    found = failing(host, tmp_path, with_edits(PROGRAM, edits), "loss_contract", 12)
    told = [one for one in found if "create_graph" in one.message]
    assert [(one.severity, one.line) for one in told] == [("warning", 13)] * count, found


DICE = """
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Conv2d(1, 1, 3, padding=1)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(12):
    x = torch.randn(4, 1, 8, 8)
    y = (x > 0).float()
    said = net(x).sigmoid()
    taken = TAKEN
    dice = 1 - (2 * (taken * y).sum() + 1) / (taken.sum() + y.sum() + 1)
    loss = F.binary_cross_entropy(said, y) + dice
    accuracy = ((said > 0.5) == (y > 0.5)).float().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("taken", "count"),
    [("(said > 0.5).float()", 1), ("said", 0), ("said * (said > 0.1)", 0)],
    ids=["threshold", "as it is", "mask"],
)
def test_only_a_term_of_comparisons_is_told(host: Host, tmp_path: Path, taken: str, count: int) -> None:
    found = failing(host, tmp_path, DICE.replace("TAKEN", taken), "loss_contract", 12)
    told = [one for one in found if "made of a comparison" in one.message]
    assert [(one.severity, one.line) for one in told] == [("warning", 13)] * count, found
