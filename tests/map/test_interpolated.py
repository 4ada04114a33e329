"""Values of a recipe that are made of others: by resolvers that the program registers, and inside of texts."""

from __future__ import annotations

from pathlib import Path

import map_depth
import pytest
from trainsleuth.map import expand_component

TRAIN = """import math
import sys

import numpy as np
import torch
from omegaconf import OmegaConf


def product(*parts):
    \"\"\"Of all of them.\"\"\"
    return np.prod(np.array(parts)).item()


def drawn(low):
    low = low + torch.rand(1).item()
    return low


def main():
    OmegaConf.register_new_resolver("times", product)
    OmegaConf.register_new_resolver("power", lambda x, y: x**y)
    OmegaConf.register_new_resolver("half", lambda x: int(math.ceil(x / 2)))
    OmegaConf.register_new_resolver("text", lambda x: str(x))
    OmegaConf.register_new_resolver("drawn", drawn)
    OmegaConf.register_new_resolver("twice", lambda x: x * 2)
    OmegaConf.register_new_resolver("twice", lambda x: x + x + 1)
    cfg = OmegaConf.load(sys.argv[1])
    cfg.job.turn = 3
    cfg["job"]["place"] = 1
    net = torch.nn.Linear(2, cfg.width)
    optimizer = torch.optim.SGD(net.parameters(), lr=cfg.optim.lr, momentum=cfg.optim.momentum)
    for epoch in range(cfg.epochs):
        for batch in open(cfg.data.folder):
            loss = net(batch).sum()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()


if __name__ == "__main__":
    main()
"""
RECIPE = """scale: 0.1
width: ${power:2,3}
epochs: ${half:9}
names: [red, green]
root: ${home}/pool
home: /data
empty: null
job:
  number: 1
  turn: 0
  place: 0
optim:
  lr: ${times:5e-5,${scale}}
  momentum: ${drawn:0.5}
  decay: ${twice:0.1}
  odd: ${power:${width},9999}
data:
  folder: ${root}/${names.${text:${job.number}}}/train
  turned: ${root}/${names.${text:${job.turn}}}
  placed: x${job.place}
  missing: ${root}/${nowhere.to.be.found}
  nothing: ${root}/${empty}
"""


def told(root: Path, recipe: str) -> dict[str, str]:
    found = expand_component(root, "config", recipe=recipe, budget=6000).items
    return {one["name"]: one["value"] for one in found if "name" in one}


@pytest.fixture(scope="module")
def values(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    root = map_depth.write({"train.py": TRAIN, "run.yaml": RECIPE}, tmp_path_factory.mktemp("made"))
    return told(root, "python train.py run.yaml")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("optim.lr", "5e-06"),  # without the digits that calculating adds
        ("width", "8"),
        ("epochs", "5"),
        ("data.folder", "/data/pool/green/train"),
        ("root", "/data/pool"),
    ],
)
def test_what_is_known_is_worked_out(values: dict[str, str], name: str, value: str) -> None:
    assert values[name] == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("optim.momentum", "${drawn:0.5}"),  # more than one statement
        ("optim.decay", "${twice:0.1}"),  # registered twice
        ("optim.odd", "${power:8,9999}"),
        ("data.turned", "/data/pool/${names.${text:${job.turn}}}"),  # code sets it later
        ("data.placed", "x${job.place}"),
        ("data.missing", "/data/pool/${nowhere.to.be.found}"),
        ("data.nothing", "/data/pool/${empty}"),
    ],
)
def test_what_is_not_known_stays_as_written(values: dict[str, str], name: str, value: str) -> None:
    assert values[name] == value


def test_the_command_counts_before_the_recipe(tmp_path: Path) -> None:
    root = map_depth.write({"train.py": TRAIN, "run.yaml": RECIPE}, tmp_path)
    assert told(root, "python train.py run.yaml scale=0.5")["optim.lr"] == "2.5e-05"
