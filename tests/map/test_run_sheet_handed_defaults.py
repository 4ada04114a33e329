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
    assert "rate: 0.25 (train.py:6)" in sheet
