"""A backward whose gradients nobody steps on, among several players: it asks; what is stepped on, or read by hand, is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing, with_edits

pytest.importorskip("torch")

PROGRAM = """
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


def judged(judge, examples, wanted):
    loss = F.binary_cross_entropy_with_logits(judge(examples), torch.full((len(examples), 1), wanted))
    loss.backward(retain_graph=True)
    return loss


maker = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8))
first, second = nn.Linear(8, 1), nn.Linear(8, 1)
of_first, of_second = torch.optim.Adam(first.parameters(), lr=1e-3), torch.optim.Adam(second.parameters(), lr=1e-3)
of_maker = torch.optim.Adam(maker.parameters(), lr=1e-3)
for step in range(12):
    real, fake = torch.randn(16, 8), maker(torch.randn(16, 4))
    first.zero_grad()
    judged(first, real, 1.0)
    judged(first, fake.detach(), 0.0)
    of_first.step()
    second.zero_grad()
    judged(second, real.flip(1), 1.0)
    judged(second, fake.detach(), 0.0)
    of_second.step()
    maker.zero_grad()
    judged(first, fake, 1.0)
    judged(second, fake, 1.0)
    of_maker.step()
"""
CUT = ("judged(first, fake, 1.0)", "judged(first, fake.detach(), 1.0)")
BY_HAND = ("judged(first, fake, 1.0)", "judged(first, fake.detach().requires_grad_(), 1.0)")  # of what it is shown


def told(host: Host, folder: Path, *edits: tuple[str, str]) -> list[str]:
    return [
        f"{one.severity}: {one.message}" for one in failing(host, folder, with_edits(PROGRAM, edits), "step_trace", 12)
    ]


def test_a_loss_that_reaches_only_the_judge(host: Host, tmp_path: Path) -> None:
    (message,) = told(host, tmp_path, CUT)
    assert message.startswith("note: a backward at program.py:")
    assert "writes gradients only for the Adam made at program.py:" in message
    assert "it trains nothing" in message


@pytest.mark.parametrize("edits", [(), (BY_HAND,)], ids=["all are used", "gradients of an input"])
def test_what_is_used(host: Host, tmp_path: Path, edits: tuple[tuple[str, str], ...]) -> None:
    assert not told(host, tmp_path, *edits)
