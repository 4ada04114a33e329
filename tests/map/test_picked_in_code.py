"""Settings that code gives a value before anybody asks: the class that a table holds under it, and the least of two."""

from __future__ import annotations

from pathlib import Path

from map_depth import write
from trainsleuth.map import expand_component, map_repository

TRAIN = """import argparse

import torch

import nets

parser = argparse.ArgumentParser()
parser.add_argument("--net", default="none_of_them")
parser.add_argument("--heads", type=int, default=8)
parser.add_argument("--local", type=int, default=0)
args = parser.parse_args()
if args.local == 0:
    args.net = "Tower"
    args.heads = min(4, args.heads)
net = nets.make(args)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    opt.zero_grad()
    net(torch.ones(1, args.heads)).sum().backward()
    opt.step()
"""
NETS = """import torch


class Flat(torch.nn.Linear):
    pass


class Tower(torch.nn.Linear):
    pass


def make(args):
    return globals()[args.net](args.heads, 1)
"""


def test_the_class_and_the_number_that_code_makes_of_them(tmp_path: Path) -> None:
    root = write({"train.py": TRAIN, "nets.py": NETS}, tmp_path)
    sheet = expand_component(root, "run", recipe="python train.py").text
    assert "net=Tower :13 (nets.py:8)" in sheet and "heads=4 train.py:14" in sheet
    said = map_repository(root, recipe="python train.py").unresolved
    assert not any("picks one" in one for one in said)


def test_a_command_that_leaves_the_arm_out(tmp_path: Path) -> None:
    root = write({"train.py": TRAIN, "nets.py": NETS}, tmp_path)
    sheet = expand_component(root, "run", recipe="python train.py --local 1 --net Flat").text
    assert "net=Flat the command" in sheet and "heads=8" in sheet


def test_what_a_loop_gives_in_turn_replaces_what_the_command_says(tmp_path: Path) -> None:
    """As in Self-MM: --datasetName is parsed, and each of three is trained on."""
    rounds = "for word in ['Flat', 'Tower']:\n    args.net = word\n    args.heads = word and 2\n"
    text = TRAIN.replace("if args.local == 0:\n", f"{rounds}if args.local == 0:\n").replace(
        '    args.net = "Tower"\n', ""
    )
    root = write({"train.py": text, "nets.py": NETS}, tmp_path)
    sheet = expand_component(root, "run", recipe="python train.py --net Flat").text
    assert "net=['Flat', 'Tower'] train.py:13" in sheet or "net=['Flat', 'Tower'] :13" in sheet
