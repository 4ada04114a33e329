"""A function of a module that is handed on to be called: Process(target=learner.run)."""

from __future__ import annotations

from pathlib import Path

from trainsleuth.map import map_repository

LAUNCH = """
from multiprocessing import Process

import learner

def launch():
    process = Process(target=learner.run, args=[0])
    process.start()

if __name__ == "__main__":
    launch()
"""
LEARNER = """
import torch

def run(rank):
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for x, y in torch.load("batches.pt"):
        loss = (model(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
PLAYER = """
class Player:
    def run(self):
        return 1
"""


def test_the_way_through_a_process_is_read(tmp_path: Path) -> None:
    for name, text in (("launch", LAUNCH), ("learner", LEARNER), ("player", PLAYER)):
        (tmp_path / f"{name}.py").write_text(text)
    found = map_repository(tmp_path, None, "python launch.py").text
    assert "loss.backward()" in found
    assert "how it is reached was not read" not in found
