"""A network that is only kept in evaluation mode is not evaluated."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import map_repository

TRAIN = """
import copy

import torch
from torch import nn

from noise import Noise


def main():
    model = nn.Linear(4, 4)
    ema = copy.deepcopy(model)
    noise = Noise()
    optimizer = torch.optim.Adam(model.parameters())
    model.train()
    ema.eval()
    for x in torch.load("batches.pt"):
        loss = noise.losses(model, x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    LAST


if __name__ == "__main__":
    main()
"""
NOISE = """
import torch


class Noise:
    def losses(self, model, x):
        return (self.wrapped(model)(x) - x).square().mean()

    def wrapped(self, model):
        return model

    def sample(self, model, shape):
        with torch.no_grad():
            return self.sample_loop(self.wrapped(model), shape)

    def sample_loop(self, model, shape):
        x = torch.randn(shape)
        for _ in range(10):
            x = self.wrapped(model)(x)
        return x
"""


@pytest.mark.parametrize(("last", "is_found"), [("print('done')", False), ("print(model(torch.ones(4)))", True)])
def test_what_is_asked_of_it_tells(tmp_path: Path, last: str, is_found: bool) -> None:
    (tmp_path / "train.py").write_text(TRAIN.replace("LAST", last))
    (tmp_path / "noise.py").write_text(NOISE)
    found = map_repository(tmp_path, None, "python train.py").components["evaluation"]
    assert (found.status == "found") is is_found, found
