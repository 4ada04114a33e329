"""Two players that push the score of what one of them makes the same way are told; those that work against each other are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing, with_edits

pytest.importorskip("torch")

CRITIC = """
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
maker = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
critic = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1))
of_maker = torch.optim.Adam(maker.parameters(), lr=1e-3)
of_critic = torch.optim.Adam(critic.parameters(), lr=1e-3)
for step in range(40):
    real = torch.randn(32, 2) + 2
    made = maker(torch.randn(32, 4))
    loss = critic(made.detach()).mean() - critic(real).mean()
    of_critic.zero_grad()
    loss.backward()
    of_critic.step()
    loss = -critic(maker(torch.randn(32, 4))).mean()
    of_maker.zero_grad()
    loss.backward()
    of_maker.step()
"""
LABELS = (
    ("critic(made.detach()).mean() - critic(real).mean()", "F.binary_cross_entropy_with_logits(critic(real), torch.ones(32, 1)) + F.binary_cross_entropy_with_logits(critic(made.detach()), torch.zeros(32, 1))"),
    ("-critic(maker(torch.randn(32, 4))).mean()", "F.binary_cross_entropy_with_logits(critic(maker(torch.randn(32, 4))), torch.ones(32, 1))"),
)  # fmt: skip
CLASSES = (
    ("nn.Linear(32, 1))\nof_maker", "nn.Linear(32, 40))\nof_maker"),
    ("critic(made.detach()).mean() - critic(real).mean()", "F.cross_entropy(critic(made.detach()), torch.randint(40, (32,)))"),
    ("-critic(maker(torch.randn(32, 4))).mean()", "F.cross_entropy(critic(maker(torch.randn(32, 4))), torch.randint(40, (32,)))"),
)  # fmt: skip
ACTOR = """
import torch
from torch import nn

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
worth = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1))
of_actor = torch.optim.Adam(actor.parameters(), lr=1e-3)
of_worth = torch.optim.Adam(worth.parameters(), lr=1e-3)
for step in range(40):
    s = torch.randn(32, 4)
    a = actor(s)
    loss = (worth(a.detach()) - s[:, :1] + a.detach().square().sum(1, keepdim=True)).square().mean()
    of_worth.zero_grad()
    loss.backward()
    of_worth.step()
    of_actor.zero_grad()
    (-worth(actor(s)).mean()).backward()
    of_actor.step()
"""


UPWARDS = (
    ("of_critic = torch.optim.Adam(critic.parameters(), lr=1e-3)", "of_critic = torch.optim.Adam(critic.parameters(), lr=1e-3, maximize=True)"),
    ("critic(made.detach()).mean() - critic(real).mean()", "critic(real).mean() - critic(made.detach()).mean()"),
)  # fmt: skip
REVERSED = (
    ("maker = nn", "class Reverse(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x.view_as(x)\n\n    @staticmethod\n    def backward(ctx, g):\n        return -g\n\n\nmaker = nn"),
    ("-critic(maker(torch.randn(32, 4))).mean()", "critic(Reverse.apply(maker(torch.randn(32, 4)))).mean()"),
)  # fmt: skip
TOGETHER = (
    ("critic(made.detach()).mean() - critic(real).mean()", "(critic(made.detach()) - 50).square().mean()"),
    ("-critic(maker(torch.randn(32, 4))).mean()", "(critic(maker(torch.randn(32, 4))) - 50).square().mean()"),
)  # fmt: skip


def said(host: Host, folder: Path, text: str, *edits: tuple[str, str]) -> list[str]:
    found = failing(host, folder, with_edits(text, edits), "loss_contract", 80)
    asked = ("trained in turns", "tell them apart")
    return [f"{one.severity}: {one.message}" for one in found if any(words in one.message for words in asked)]


@pytest.mark.parametrize(
    ("edits", "way"),
    [
        ((("critic(made.detach()).mean() - critic(real)", "critic(real).mean() - critic(made.detach())"),), "up"),
        ((("loss = -critic(maker", "loss = critic(maker"),), "down"),
        ((*LABELS, ("made.detach()), torch.zeros", "made.detach()), torch.ones")), "up"),
    ],
    ids=["the critic's sign", "the maker's sign", "labels"],
)
def test_players_that_pull_together(host: Host, tmp_path: Path, edits: tuple[tuple[str, str], ...], way: str) -> None:
    (message,) = said(host, tmp_path, CRITIC, *edits)
    assert (
        message.startswith("note: Sequential and Sequential are trained in turns")
        and f"makes {way}, in all of" in message
    )


@pytest.mark.parametrize(
    "edits",
    [
        (("critic(made.detach()).mean() - critic(real)", "critic(made.detach()).mean() + critic(real)"),),
        (*LABELS, ("critic(real), torch.ones", "critic(real), torch.zeros")),
    ],
    ids=["sign", "labels"],
)
def test_real_examples_treated_as_made_ones(host: Host, tmp_path: Path, edits: tuple[tuple[str, str], ...]) -> None:
    (message,) = said(host, tmp_path, CRITIC, *edits)
    assert (
        message.startswith("note: the steps of Sequential push")
        and "makes down, and the score of its other examples down as well" in message
    )


@pytest.mark.parametrize(
    ("text", "edits"),
    [
        (CRITIC, ()),
        (CRITIC, LABELS),
        (CRITIC, CLASSES),
        (CRITIC, TOGETHER),
        (CRITIC, UPWARDS),
        (CRITIC, REVERSED),
        (ACTOR, ()),
    ],
    ids=["critic", "labels", "classes", "one goal", "upwards", "reversed", "actor"],
)
def test_players_that_do_not(host: Host, tmp_path: Path, text: str, edits: tuple[tuple[str, str], ...]) -> None:
    assert not said(host, tmp_path, text, *edits)
