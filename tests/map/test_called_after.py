"""What is only called after evaluation is none; what a word of a call tells is one."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import map_repository

TRAIN = """
import time

import torch
from torch import nn


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Linear(4, 2)
        self.critic = nn.Linear(4, 1)

    def eval_critic(self, x):
        return self.critic(x)

    def forward(self, x):
        return self.actor(x), self.eval_critic(x)


class Rate:
    def __init__(self, first):
        self.first = first

    def eval(self, step):
        return self.first / (1 + step)


class Tree:
    def __init__(self):
        self.sums = [0.0] * 9

    def val_update(self, index, value):
        self.sums[index] += value
        if index:
            self.val_update(index // 2, value)


class Watch:
    def __init__(self):
        self.spent = 0.0

    def eval(self):
        self.spent = time.time() - self.spent

    def score_norm(self, step):
        return step**0.5


class Work:
    def __init__(self):
        self.agent = Agent()
        self.rate, self.tree, self.watch = Rate(1.0), Tree(), Watch()
        self.optimizer = torch.optim.Adam(self.agent.parameters())

    def rounds(self, batches, test_mode=False):
        for x in batches:
            out, value = self.agent(x)
            loss = (out.square().mean() - value.mean()) * self.rate.eval(1)
            if not test_mode:
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()

    MORE

    def train(self):
        for step in range(9):
            self.tree.val_update(step, self.watch.score_norm(step))
            self.watch.eval()
            self.rounds(torch.load("batches.pt"), test_mode=False)  # trains
            LAST


if __name__ == "__main__":
    Work().train()
"""
EVAL = """def eval(self):
        with torch.no_grad():
            for x in torch.load("others.pt"):
                print(self.agent(x))"""


def mapped(root: Path, last: str = "pass", more: str = "") -> dict[int, str]:
    (root / "train.py").write_text(TRAIN.replace("LAST", last).replace("MORE", more))
    found = map_repository(root, None, "python train.py").components["evaluation"]
    return {place.line: place.role for place in found.places} if found.status == "found" else {}


def line_of(root: Path, text: str) -> int:
    return next(n for n, one in enumerate((root / "train.py").read_text().splitlines(), 1) if text in one)


def test_a_name_alone_is_no_evaluation(tmp_path: Path) -> None:
    assert not mapped(tmp_path)


def test_what_a_call_is_told_decides(tmp_path: Path) -> None:
    found = mapped(tmp_path, 'self.rounds(torch.load("others.pt"), test_mode=True)')
    assert found[line_of(tmp_path, "test_mode=True")] == "evaluation call"
    assert found.get(line_of(tmp_path, "test_mode=False)  # trains")) != "evaluation call"


def test_a_method_that_measures_is_one(tmp_path: Path) -> None:
    more = "def evaluate_one(self, x, y):\n        return accuracy(x, y)"
    found = mapped(tmp_path, "self.evaluate_one(step, step)", more)
    assert found[line_of(tmp_path, "self.evaluate_one(step")] == "evaluation call"


@pytest.mark.parametrize("name", ["watch.eval()", "rate.eval(1)"])
def test_a_namesake_is_not_called(tmp_path: Path, name: str) -> None:
    found = mapped(tmp_path, "self.eval()", EVAL)
    assert found[line_of(tmp_path, "self.eval()")] == "evaluation call"
    assert found.get(line_of(tmp_path, name)) != "evaluation call"


HELD_OUT = """
import torch
from torch import nn


def one(model, x, optimizer):
    loss = model(x).square().mean()
    if optimizer is not None:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss


def epoch(model, batches, optimizer=None):
    for x in batches:
        one(model, x, optimizer)


def main():
    model = nn.Linear(4, 4)
    optimizer = torch.optim.Adam(model.parameters())
    train_loader, val_loader = torch.load("train.pt"), torch.load("val.pt")
    for number in range(3):
        epoch(model, train_loader, optimizer)
        epoch(model, val_loader)


if __name__ == "__main__":
    main()
"""


def test_the_same_epoch_over_held_out_data_is_one(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(HELD_OUT)
    found = map_repository(tmp_path, None, "python train.py").components["evaluation"]
    assert line_of(tmp_path, "epoch(model, val_loader)") in [place.line for place in found.places]


MODES = """
import torch
from torch import nn


class Work:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(4, 4), nn.Dropout())
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def set_eval(self):
        self.model.eval()

    def create_viewer(self):
        with torch.no_grad():
            self.shown = self.model[0].weight.clone()

    def train(self):
        self.CALL()
        for x in torch.load("batches.pt"):
            loss = self.model(x).square().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


if __name__ == "__main__":
    Work().train()
"""


@pytest.mark.parametrize("call", ["set_eval", "create_viewer"])
def test_a_switch_of_the_mode_and_a_viewer_are_none(tmp_path: Path, call: str) -> None:
    (tmp_path / "train.py").write_text(MODES.replace("CALL", call))
    assert map_repository(tmp_path, None, "python train.py").components["evaluation"].status != "found"
