"""A class out of a module that a setting names, put on an object to be made later."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import map_repository

TRAIN = """import importlib
import sys
from types import SimpleNamespace

import torch
import yaml

cfg = SimpleNamespace(**yaml.safe_load(open(sys.argv[1])))
cfg.Rows = importlib.import_module(cfg.data_module).Rows

if __name__ == "__main__":
    rows = cfg.Rows("train.csv")
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in torch.utils.data.DataLoader(rows):
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
"""
ROWS = """from torch.utils.data import Dataset


class Rows(Dataset):
    def __getitem__(self, index):
        return NUMBER
"""


@pytest.mark.parametrize(("asked", "other"), [("small", "large"), ("large", "small")])
def test_the_class_of_the_named_module_is_made(asked: str, other: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "small.py").write_text(ROWS)
    (tmp_path / "large.py").write_text(ROWS)
    (tmp_path / "run.yaml").write_text(f"data_module: {asked}\n")
    made = map_repository(tmp_path, scope="train.py", recipe="python train.py run.yaml").components["data"]
    strong = {place.path for place in made.places if place.role != "mention"}
    assert f"{asked}.py" in strong
    assert f"{other}.py" not in strong
