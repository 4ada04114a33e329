"""Settings that a function puts together from its own parameters."""

from __future__ import annotations

from pathlib import Path

from map_depth import STEP
from trainsleuth.map import expand_component

TRAIN = """import argparse

import torch


def options(rate=0.25, width=3, **more):
    args = argparse.Namespace(rate=rate, width=width, best=None)
    return args


args = options()
net = torch.nn.Linear(2, args.width)
opt = torch.optim.SGD(net.parameters(), lr=args.rate)
"""


def test_a_name_that_is_a_parameter_is_worth_its_default(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN + STEP)
    sheet = expand_component(tmp_path, "run", budget=1500).text
    assert "rate=0.25 default train.py:6" in sheet and "width: 3 (train.py:6)" in sheet


GIVEN = """import torch


class LengthParams:
    def __init__(self, iterations=30, warmup_steps=5, lr=0.1, width=3):
        self.iterations, self.warmup_steps, self.lr, self.width = iterations, warmup_steps, lr, width


def main():
    params = LengthParams(7, lr=0.2)
    net = torch.nn.Linear(2, params.width)
    opt = torch.optim.SGD(net.parameters(), lr=params.lr)
    warm = params.warmup_steps
    for step in range(params.iterations):
        loss = net(torch.ones(1, 2)).sum() * warm
        opt.zero_grad()
        loss.backward()
        opt.step()


main()
"""


def test_a_default_for_which_a_call_gives_another_value_is_not_told(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(GIVEN)
    sheet = expand_component(tmp_path, "run", recipe="python train.py", budget=1500).text
    assert "iterations=30" not in sheet and "lr=0.1" not in sheet
    assert "warmup_steps=5 default" in sheet
