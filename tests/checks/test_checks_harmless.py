"""Faults that are as stated and do no harm: by the version of torch, by how often they strike, by how long a sum lives."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.checks import run_checks
from trainsleuth.finding import Finding
from trainsleuth.repository import Repository

DROPOUT = """\
import torch
from torch import nn
import torch.nn.functional as F

class Net(nn.Module):
    def forward(self, x):
        return F.dropout(x, 0.5)

if __name__ == "__main__":
    net = Net()
    net.eval()
    print(net(torch.ones(2)))
"""
SCHEDULE = """\
import torch

def train(net, loader, updates):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / updates)
    for epoch in range(9):
        EPOCH
        for x in loader:
            BATCH
            optimizer.zero_grad()
            net(x).mean().backward()
            optimizer.step()

if __name__ == "__main__":
    train(torch.nn.Linear(1, 1), [], 9000)
"""
FRAMES = """\
import torch

class Model:
    def __init__(self, net):
        self.net, self.optimizer = net, torch.optim.SGD(net.parameters(), lr=0.1)

    def train(self, frames):
        batch, length, channels = frames.shape
        total = 0.0
        for at in range(COUNT):
            self.optimizer.zero_grad()
            loss = self.net(frames[:, 0]).mean()
            loss.backward()
            self.optimizer.step()
            total += loss
        return total / length

if __name__ == "__main__":
    Model(torch.nn.Linear(1, 1)).train(torch.load("data.pt"))
"""


def _finding(root: Path, check: str, files: dict[str, str]) -> Finding:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return run_checks(Repository(root), [check]).findings[0]


@pytest.mark.parametrize(
    ("files", "is_old"),
    [
        ({}, False),
        ({"requirements.txt": "torch==0.4.1\n"}, True),
        ({"train/requirements.txt": "torch==0.4.1\n"}, True),
        ({"requirements.txt": "torch==1.13.1\n", "old/requirements.txt": "torch==0.4.1\n"}, False),
        ({"requirements.txt": "torch\n"}, False),
    ],
)
def test_dropout_was_off_before_torch_1(files: dict[str, str], is_old: bool, tmp_path: Path) -> None:
    found = _finding(tmp_path, "dropout-without-training", {"net.py": DROPOUT, **files})
    assert (found.outcome, found.severity) == ("fail", "note")
    assert ("names torch==0.4" in found.message) is is_old


@pytest.mark.parametrize(
    ("epoch", "batch", "severity"), [("schedule.step()", "pass", "warning"), ("pass", "schedule.step()", "note")]
)
@pytest.mark.usefixtures("right_so_far")
def test_one_value_of_a_schedule_by_the_batch_asks(epoch: str, batch: str, severity: str, tmp_path: Path) -> None:
    program = SCHEDULE.replace("EPOCH", epoch).replace("BATCH", batch)
    found = _finding(tmp_path, "scheduler-before-optimizer", {"train.py": program})
    assert (found.outcome, found.severity) == ("fail", severity)
    assert ("one value of as many as there are steps" in found.message) is (severity == "note")


@pytest.mark.parametrize(
    ("count", "outcome"),
    [("length - 2", "pass"), ("frames.shape[1]", "pass"), ("frames.shape[0]", "fail"), ("batch", "fail")],
)
def test_a_sum_over_the_frames_of_a_batch_is_short(count: str, outcome: str, tmp_path: Path) -> None:
    found = _finding(tmp_path, "loss-kept-with-graph", {"train.py": FRAMES.replace("COUNT", count)})
    assert found.outcome == outcome, found.message
