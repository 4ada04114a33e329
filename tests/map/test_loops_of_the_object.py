"""Loops of an object around a method that it inherits of a library, which calls the step of the same object."""

from __future__ import annotations

from pathlib import Path

from map_depth import write
from trainsleuth.map import map_repository

AGENT = """import torch
from agents import Agent


class Learner(Agent):
    def train_epoch(self):
        for _ in range(0, self.rounds):
            for i in range(len(self.dataset)):
                self.train_actor(self.dataset[i])

    def compute(self, batch):
        loss = self.net(batch).sum()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
"""
TRAIN = """import torch
from agents import Runner
import learner



def main():
    runner = Runner()
    runner.factory.register_builder("own", lambda **kwargs: learner.Learner(**kwargs))
    runner.run()


if __name__ == "__main__":
    main()
"""


def test_the_loops_are_told(tmp_path: Path) -> None:
    made = map_repository(write({"train.py": TRAIN, "learner.py": AGENT}, tmp_path), scope="train.py")
    lines = {place.line for place in made.components["training_loop"].places if place.path == "learner.py"}
    assert {7, 8, 9, 14} <= lines
