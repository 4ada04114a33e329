"""A name in a line is told with its own value, never with that of another holder of the same name."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import STEP
from trainsleuth.map import expand_component

HOOKS = """
HOOKS = {}


def register(cls):
    HOOKS[cls.__name__] = cls
    return cls


@register
class LogHook:
    def __init__(self, cfg):
        self.log_interval = cfg.get("log_interval", 10)
        self.interval = cfg.get("interval", self.log_interval)

    def after(self, step):
        if step % self.interval == 0:
            print("logged", step)


@register
class SaveHook:
    def __init__(self, cfg):
        self.interval = cfg.get("interval", 1)

    def after(self, step):
        if step % self.interval == 0:
            print("saved", step)
"""
HOOKED = """
import sys

import torch
import yaml

from hooks import HOOKS

cfg = yaml.safe_load(open(sys.argv[1]))
hooks = [HOOKS[one["type"]](one) for one in cfg["hooks"]]
net = torch.nn.Linear(2, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
"""
WHILE_IT_LOADS = """
import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--shards", type=int, default=1)
args = parser.parse_args()
net = torch.nn.Linear(2, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def load(args, net):
    shards = args.shards
    args.shards = 1
    net.load_state_dict(torch.load("net.pt"))
    {after}


load(args, net)
if args.shards > 1:
    print("several")
"""
FILLED_LATER = """
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)
        self.control = None
        self.scale = 3

    def forward(self, x):
        if self.control is not None:
            x = self.control(x)
        return self.layer(x) * self.scale


net = Net()
{between}
opt = torch.optim.SGD(net.parameters(), lr=0.1)
"""


def _lines(root: Path, words: str, recipe: str) -> str:
    return expand_component(root, f"lines {words}", recipe=recipe, budget=800).text


def test_a_hook_has_the_settings_of_its_own_section(tmp_path: Path) -> None:
    (tmp_path / "hooks.py").write_text(HOOKS)
    (tmp_path / "train.py").write_text(HOOKED + STEP)
    (tmp_path / "small.yaml").write_text(
        "hooks:\n  - type: LogHook\n    log_interval: 50\n  - type: SaveHook\n    interval: 100\n"
    )
    said = _lines(tmp_path, "% self.interval", "python train.py small.yaml")
    saved = [line for line in said.split("\n") if "interval = 100" in line]
    assert [line.split()[0] for line in saved] == ["27"], said


@pytest.mark.parametrize(("after", "value"), [("args.shards = shards", "8"), ("print(shards)", "1")])
def test_what_a_setting_is_for_a_while_is_not_what_it_is(tmp_path: Path, after: str, value: str) -> None:
    (tmp_path / "train.py").write_text(WHILE_IT_LOADS.format(after=after) + STEP)
    said = _lines(tmp_path, "if args.shards", "python train.py --shards 8")
    assert f"shards = {value}" in said


@pytest.mark.parametrize(("between", "told"), [("net.control = torch.nn.Linear(2, 2)", False), ("", True)])
def test_what_others_fill_is_not_what_it_begins_with(tmp_path: Path, between: str, told: bool) -> None:
    (tmp_path / "train.py").write_text(FILLED_LATER.format(between=between) + STEP)
    said = _lines(tmp_path, "self.control is not|self.scale", "python train.py")
    assert ("control = None" in said) is told
    assert "scale = 3" in said
