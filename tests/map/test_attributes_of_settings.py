"""Attributes that an object takes over from its settings, handed on to what it builds; what a launcher gives instead."""

from __future__ import annotations

from pathlib import Path

import map_depth
import pytest
from trainsleuth.map import expand_component

TRAIN = """import argparse

import torch
from net import Net
from settings import NetConfig


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", type=int, default=0)
    args = parser.parse_args()
    torch.cuda.set_device(args.local_rank)
    config = NetConfig(width=6, depth=2, rate=0.2, epochs=1)
    net = Net(config)
    optimizer = torch.optim.SGD(net.parameters(), lr=config.rate)
    for batch in torch.utils.data.DataLoader(torch.ones(8, 4)):
        loss = net(batch).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
"""
NET = """import torch


class Head(torch.nn.Module):
    def __init__(self, width, apart):
        super().__init__()
        self.apart = apart
        self.stop = torch.nn.Linear(4, width)

    def forward(self, state):
        if self.apart:
            return self.stop(state.detach())
        return self.stop(state)


class Net(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        for key in config:
            setattr(self, key, config[key])
        self.head = Head(self.width, self.apart)

    def forward(self, batch):
        return self.head(batch)
"""
SETTINGS = """from dataclasses import dataclass


@dataclass
class NetConfig:
    width: int = 3
    apart: bool = True
    rate: float = 0.1
    depth: int = 1
    epochs: int = 9
"""
FILES = {"train.py": TRAIN, "net.py": NET, "settings.py": SETTINGS}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return map_depth.write(FILES, tmp_path_factory.mktemp("attributes"))


def test_a_default_that_reaches_a_part_through_an_attribute_is_told_there(root: Path) -> None:
    told = expand_component(root, "ask stop state detach", scope="train.py", recipe="python train.py", budget=300).text
    assert "if self.apart:  # self.apart = True (settings.py:7)" in told


def test_the_rank_that_a_launcher_gives_is_not_told_by_its_default(root: Path) -> None:
    told = expand_component(
        root, "ask cuda set device local rank", scope="train.py", recipe="torchrun train.py", budget=300
    ).text
    assert "torch.cuda.set_device(args.local_rank)" in told and "args.local_rank = 0" not in told
