"""What a hook or a test of an interval lets by only now and then does not run at each step."""

from __future__ import annotations

from pathlib import Path

import map_depth
import pytest
from trainsleuth.map import expand_component

TRAIN = """import torch


class Saver:
    every = 100

    def after_train_iter(self, trainer):
        GUARD
        trainer.save_best()


class Trainer:
    def __init__(self):
        self.model = torch.nn.Linear(2, 2)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.saver = Saver()
        self.step = 0

    def save_best(self):
        torch.save(self.model.state_dict(), "best.pth")

    def train(self):
        for step in range(1000):
            loss = self.model(torch.ones(1, 2)).sum()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.step += 1
            self.saver.after_train_iter(self)


if __name__ == "__main__":
    Trainer().train()
"""


def saved(root: Path, guard: str) -> str:
    map_depth.write({"train.py": TRAIN.replace("        GUARD\n", guard)}, root)
    text = expand_component(root, "run", budget=2000).text
    return next(line for line in text.splitlines() if "torch.save(" in line)


@pytest.mark.parametrize(
    "guard",
    [
        "        if not self.every_n_iters(trainer, 100):\n            return\n",
        "        if trainer.step % self.every:\n            return\n",
    ],
)
def test_a_hook_that_returns_before_its_time(tmp_path: Path, guard: str) -> None:
    assert "each step that is due" in saved(tmp_path, guard)


def test_a_call_under_a_test_of_its_time(tmp_path: Path) -> None:
    text = TRAIN.replace("        GUARD\n", "").replace(
        "            self.saver.after", "            if self.step % 100 == 0:\n                self.saver.after"
    )
    map_depth.write({"train.py": text.replace("after_train_iter", "write")}, tmp_path)
    assert "each step that is due" in expand_component(tmp_path, "run", budget=2000).text


@pytest.mark.parametrize("guard", ["", "        if trainer.rank != 0:\n            return\n"])
def test_a_hook_that_always_saves(tmp_path: Path, guard: str) -> None:
    line = saved(tmp_path, guard)
    assert "each step" in line
    assert "that is due" not in line
