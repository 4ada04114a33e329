"""Lines that give one number in all places whatever goes in: a note, and none where the number changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing, with_edits

pytest.importorskip("torch")

from trainsleuth import probes

CLIPPED = """
import torch

torch.manual_seed(0)
policy = torch.nn.Linear(8, 4)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)


def log_probability(x, action):
    return policy(x).log_softmax(-1).gather(1, action[:, None])[:, 0]


for rollout in range(30):
    x, action, reward = torch.randn(64, 8), torch.randint(4, (64,)), torch.randn(64)
    before = log_probability(x, action).detach()
    advantage = (reward - reward.mean()) / reward.std()
    for epoch in range(4):
        now = log_probability(x, action)
        ratio = (now - before).exp()
        loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
CONSISTENT = """
import torch
import torch.nn as nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(16, 32), nn.Linear(32, 16)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


def pick(x, even):
    return x[:, ::2] if even else x[:, 1::2]


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
for step in range(100):
    x = torch.randn(32, 32)
    first, second = pick(x, True), pick(x, False)
    with torch.no_grad():
        whole = net(first) - net(second)
    out = net(first)
    loss = (out - second).square().mean() + (out - second - whole).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def said(host: Host, folder: Path, text: str, *edits: tuple[str, str]) -> list[str]:
    found = failing(host, folder, with_edits(text, edits), "activations", 90)
    return [f"{one.severity} at {one.line}: {one.message}" for one in found]


def test_a_number_that_is_0_for_the_time_being(host: Host, tmp_path: Path) -> None:
    assert not said(host, tmp_path, CONSISTENT, ("out = net(first)", "out = net(first) + 0.0 * net(second)"))


@pytest.mark.parametrize("text", [CLIPPED, CONSISTENT], ids=["ratio", "difference"])
def test_what_differs_is_left_alone(host: Host, tmp_path: Path, text: str) -> None:
    assert not said(host, tmp_path, text)


def test_a_ratio_to_itself(host: Host, tmp_path: Path) -> None:
    (message,) = said(host, tmp_path, CLIPPED, ("(now - before)", "(now - now.detach())"))
    assert message.startswith("note at 19: the difference at program.py:19 gives 0 in every place (shape [64])")


def test_a_difference_of_two_halves_that_are_one(host: Host, tmp_path: Path) -> None:
    (message,) = said(host, tmp_path, CONSISTENT, ("pick(x, False)", "pick(x, True)"))
    assert message.startswith("note at 27: the difference at program.py:27 gives 0")


def test_a_mean_over_an_axis_of_length_one(host: Host, tmp_path: Path) -> None:
    normed = (
        "out = net(first)",
        "out = net(first)\n    out = out * (out[:, :1] - out[:, :1].mean(1, keepdim=True)).exp()",
    )
    (message,) = said(host, tmp_path, CONSISTENT, normed)
    assert "gives 0 in every place (shape [32, 1])" in message


def test_a_weight_that_waits(host: Host, tmp_path: Path) -> None:
    """Zero at first, as long as a warm-up lasts."""
    weighed = ("+ (out - second - whole)", "+ (min(1.0, max(0, step - 30) / 40) * (out - second - whole))")
    assert not said(host, tmp_path, CONSISTENT, weighed)


WORKERS = """
import torch
from torch.utils.data import DataLoader, Dataset


class Depth(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, i):
        return torch._C._len_torch_function_stack(), torch.randn(8)


net = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(8):
    for depth, x in DataLoader(Depth(), 16, num_workers=1):
        assert not depth.any(), depth
        loss = net(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def test_workers_do_not_inherit_the_listening(host: Host, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(WORKERS)
    trace, ended = host.run(tmp_path / "program.py", tmp_path, dict(probes.EXPERIMENTS["observe"]))
    assert ended["code"] == 0 and trace.steps == 32, ended
