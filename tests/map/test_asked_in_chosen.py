"""Two models that each pick from a table of their own by one key: the file of the model that is chosen decides."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import write
from trainsleuth.facts import Class
from trainsleuth.map import expand_component, read_anatomy

MODEL = """import torch
from torch import nn


class {name}Line(nn.Linear):
    pass


class {name}Grid(nn.Linear):
    def __init__(self, width, out, heads=4):
        super().__init__(width, out)

    def forward(self, x):
        return super().forward(x)


KINDS = {{"line": {name}Line, "grid": {name}Grid}}


class Model(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.mix = KINDS[args.geometry](2, 2)

    def forward(self, x):
        return self.mix(x)
"""
FILES = {
    "train.py": """import argparse

import torch

from models import Deep, Wide

parser = argparse.ArgumentParser()
parser.add_argument("--model", default="Wide")
parser.add_argument("--geometry", default="line")
args = parser.parse_args()
net = {"Deep": Deep, "Wide": Wide}[args.model].Model(args)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    opt.zero_grad()
    net(torch.ones(1, 2)).sum().backward()
    opt.step()
""",
    "models/__init__.py": "",
    "models/Deep.py": MODEL.format(name="Deep"),
    "models/Wide.py": MODEL.format(name="Wide"),
}


@pytest.mark.parametrize(("model", "other"), [("Deep", "Wide"), ("Wide", "Deep")])
def test_the_table_of_the_chosen_file_answers(tmp_path: Path, model: str, other: str) -> None:
    root = write(FILES, tmp_path)
    command = f"python train.py --model {model} --geometry grid"
    program = read_anatomy(root, "train.py", command).program
    assert program is not None
    chosen = {one.key: one.target.name for one in program.choices if isinstance(one.target, Class)}
    assert chosen["geometry"] == f"{model}Grid"
    sheet = expand_component(root, "run", scope="train.py", recipe=command, budget=1500).text
    assert f"{other}Grid" not in sheet and f"{other}.py" not in sheet
    assert f"{model}Grid {model}.py:9 by geometry the command: default heads=4" in sheet
