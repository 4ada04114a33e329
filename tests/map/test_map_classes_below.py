"""Of a class that a setting chooses, the classes made from it do not run unless something makes one."""

from __future__ import annotations

from pathlib import Path

import map_depth
import pytest
from trainsleuth.map import map_repository

PROJECT = {
    "train.py": """\
import hydra
from hydra.utils import instantiate


@hydra.main(config_path="configs", config_name="train")
def main(config):
    model = instantiate(config.model)
    MADE
    model.fit()


if __name__ == "__main__":
    main()
""",
    "configs/train.yaml": "model:\n  _target_: plain.Plain\n  rate: 0.1\n",
    "plain.py": """\
import torch
from torch import nn


class Plain(nn.Module):
    def __init__(self, rate):
        super().__init__()
        self.net, self.rate = nn.Linear(2, 2), rate

    def loss(self, x):
        return self.net(x).pow(2).mean()

    def fit(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=self.rate)
        for step in range(10):
            optimizer.zero_grad()
            self.loss(torch.zeros(1, 2)).backward()
            optimizer.step()
""",
    "other.py": """\
from plain import Plain


class Other(Plain):
    def loss(self, x):
        return self.net(x).abs().mean()
""",
}


@pytest.mark.parametrize(("made", "is_shown"), [("pass", False), ("model = Other(0.1)", True)])
def test_its_methods_are_those_of_the_chosen_class(tmp_path: Path, made: str, is_shown: bool) -> None:
    files = dict(PROJECT)
    files["train.py"] = files["train.py"].replace("MADE", made)
    if is_shown:
        files["train.py"] = "from other import Other\n" + files["train.py"]
    root = map_depth.write(files, tmp_path)
    told = map_repository(root, recipe="python train.py").text
    assert "plain.py" in told
    assert ("abs()" in told) == is_shown, told
