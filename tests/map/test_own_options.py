"""Options that a class makes of its own attributes, and settings that only what they are handed on as explains."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import STEP
from trainsleuth.map import expand_component

GROUPS = """import argparse


class Namespaced:
    pass


class Group:
    def __init__(self, parser):
        group = parser.add_argument_group(type(self).__name__)
        for key, value in vars(self).items():
            form = {"action": "store_true"} if isinstance(value, bool) else {"type": type(value)}
            if key.startswith("_"):
                key = key[1:]
                group.add_argument(KEY, "-" + key[0], default=value, **form)
            else:
                group.add_argument(KEY, default=value, **form)

    def read(self, args):
        held = Namespaced()
        for key in vars(self):
            setattr(held, key.lstrip("_"), getattr(args, key.lstrip("_")))
        return held


class Scene(Group):
    def __init__(self, parser):
        self._source_path = ""
        self._width = 3
        self.mirrored = False
        super().__init__(parser)


class Rates(Group):
    def __init__(self, parser):
        self.points_first = 0.016
        self.points_last = 0.00016
        self.colours = 0.25
        self.shape_of_decay = 2
        super().__init__(parser)
"""
TRAIN = """import argparse

import torch

from groups import Rates, Scene


def main(args, opt):
    images = torch.load(args.source_path)
    net = torch.nn.Linear(2, args.width)
    groups = [
        {"params": [net.weight], "lr": opt.points_first * 2.0},
        {"params": [net.bias], "lr": opt.colours},
    ]
    decay = falling(opt.shape_of_decay, lr_final=opt.points_last)
    opt = torch.optim.Adam(groups, lr=0.0)
"""
MAIN = """

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    scene, rates = Scene(parser), Rates(parser)
    args = parser.parse_args()
    main(scene.read(args), rates.read(args))
"""


@pytest.fixture(params=['"--" + key', 'f"--{key}"'])
def sheet(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    (tmp_path / "groups.py").write_text(GROUPS.replace("KEY", request.param))
    (tmp_path / "train.py").write_text(TRAIN + STEP.replace("\n", "\n    ") + MAIN)
    return expand_component(tmp_path, "run", recipe="python train.py -s shots/ship --mirrored", budget=3000).text


def _of(sheet: str, topic: str) -> str:
    return sheet.partition(f"# {topic}\n")[2].partition("\n#")[0]


def test_an_attribute_is_an_option_with_its_initial_and_without_its_underscore(sheet: str) -> None:
    assert "source_path=shots/ship the command" in _of(sheet, "data")
    assert "mirrored=True the command" in sheet and "width=3" in _of(sheet, "other defaults that it reads")
    assert " s=" not in sheet and "_width" not in sheet


def test_a_setting_is_a_learning_rate_when_it_is_handed_on_as_one(sheet: str) -> None:
    rates = _of(sheet, "optimizer")
    assert "points_first=0.016 default" in rates and "colours=0.25 default" in rates
    assert "points_last=0.00016 default" in _of(sheet, "schedule")
    assert "shape_of_decay" not in rates and "shape_of_decay=2" in sheet
