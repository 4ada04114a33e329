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
