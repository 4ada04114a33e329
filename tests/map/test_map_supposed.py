"""A class that trains in two ways: the one that the program asks for leads."""

from __future__ import annotations

from pathlib import Path

from trainsleuth.map import map_repository

TRAINER = """import torch
from torch import nn
from torch.nn import functional as F


class Trainer:
    def __init__(self):
        self.ego, self.main = nn.Linear(4, 2), nn.Linear(4, 2)
        self.ego_optim = torch.optim.Adam(self.ego.parameters())
        self.main_optim = torch.optim.Adam(self.main.parameters())

    def train_ego(self, x, y):
        loss = F.l1_loss(self.ego(x), y)
        self.ego_optim.zero_grad()
        loss.backward()
        self.ego_optim.step()

    def train_main(self, x, y):
        loss = F.mse_loss(self.main(x), y)
        self.main_optim.zero_grad()
        loss.backward()
        self.main_optim.step()
"""
PROGRAM = """from trainer import Trainer

trainer = Trainer()
for x, y in []:
    trainer.train_{which}(x, y)
"""


def test_the_way_that_a_program_asks_for_comes_first(tmp_path: Path) -> None:
    (tmp_path / "trainer.py").write_text(TRAINER)
    for which in ("ego", "main"):
        (tmp_path / f"{which}.py").write_text(PROGRAM.format(which=which))
    for which, loss, step in (("ego", 13, 16), ("main", 19, 22)):
        found = map_repository(tmp_path, f"{which}.py").components
        assert max(found["loss"].places, key=lambda one: one.score).line == loss
        steps = [one for one in found["training_loop"].places if one.role == "optimizer step"]
        assert max(steps, key=lambda one: one.score).line == step
