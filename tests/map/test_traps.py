"""What a map asks to look at twice, and what it does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import map_repository

TRAINER = """import torch
from accelerate import Accelerator


class Trainer:
    def __init__(self, net, optimizer, schedule):
        self.accelerator = Accelerator()
        self.net, self.optimizer, self.schedule = self.accelerator.prepare(net, optimizer, schedule)

    def train(self, loader):
        for x in loader:
            loss = self.net(x).mean()
            self.accelerator.backward(loss)
            self.optimizer.step()
            self.optimizer.zero_grad()
{used}

net = torch.nn.Linear(2, 1)
Trainer(net, torch.optim.SGD(net.parameters(), lr=0.1), None).train([])
"""


@pytest.mark.parametrize(("used", "is_told"), [("            self.schedule.step()\n", False), ("", True)])
def test_what_is_prepared_may_be_used_in_another_method(used: str, is_told: bool, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINER.format(used=used))
    said = [one for one in map_repository(tmp_path).traps if "comes out of prepare()" in one]
    assert [one.partition(" comes")[0] for one in said] == (["train.py:8 self.schedule"] if is_told else [])


EVALUATED = """import torch

net = torch.nn.Linear(2, 1)
model = {"net": net, "optimizer": torch.optim.SGD(net.parameters(), lr=0.1)}


def evaluate(x):
    OFF
    with torch.no_grad():
        return net(x)


for x in range(9):
    net.train()
    model["optimizer"].zero_grad()
    net(torch.ones(1, 2)).sum().backward()
    model["optimizer"].step()
    print(evaluate(torch.ones(1, 2)))
"""


@pytest.mark.parametrize(("off", "told"), [("net.train(False)", 0), ("net.eval()", 0), ("net.train(True)", 1)])
def test_training_that_is_switched_off_is_an_evaluation(off: str, told: int, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(EVALUATED.replace("OFF", off))
    said = map_repository(tmp_path).traps
    assert sum("no .eval() is reached" in one for one in said) == told
    assert not any("no optimizer step" in one or "no zero_grad" in one for one in said)


ENGINE = """import deepspeed
import torch


class Learner:
    def __init__(self, net):
        self.policy, *_ = GIVES(model=net, config={"train_batch_size": 4})

    def learn(self, loader):
        for x in loader:
            loss = self.policy(x).mean()
            self.policy.backward(loss)
            self.policy.step()


Learner(torch.nn.Linear(2, 1)).learn([])
"""


@pytest.mark.parametrize(("gives", "told"), [("deepspeed.initialize", 0), ("torch.initialize", 2)])
def test_the_engine_that_deepspeed_gives_back_steps_and_clears_gradients(gives: str, told: int, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(ENGINE.replace("GIVES", gives))
    said = map_repository(tmp_path).traps
    assert sum("no optimizer step" in one or "no zero_grad" in one for one in said) == told
