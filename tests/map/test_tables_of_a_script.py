"""A class by its name, and a table of the script that holds what it is made with: the sheet tells the table's values."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import write
from trainsleuth.map import expand_component

TRAIN = """import argparse

import torch

from nets import load

parser = argparse.ArgumentParser()
parser.add_argument("model")
args = parser.parse_args()
width = 3 if args.model == "deep" else 2
if args.model == "wide":
    model_kwargs = {"width": width, "heads": 2}
elif args.model == "deep":
    model_kwargs = {"width": width, "depth": 8}
net = load(args.model, model_kwargs)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    opt.zero_grad()
    net(torch.ones(1, width)).sum().backward()
    opt.step()
"""
NETS = (
    "import torch\n\nNETS = {}\n\n\ndef register(name):\n    def keep(cls):\n        NETS[name] = cls\n        return cls\n\n    return keep\n\n\n"
    + "\n\n".join(
        f'@register("{name.lower()}")\nclass {name}(torch.nn.Module):\n'
        f"    def __init__(self, width, depth={depth}, heads={heads}, rate=0.1):\n"
        "        super().__init__()\n        self.inner = torch.nn.Linear(width, depth * heads)\n\n"
        "    def forward(self, x):\n        return self.inner(x)\n"
        for name, depth, heads in (("Wide", 24, 16), ("Deep", 12, 4))
    )
)
FILES = {
    "train.py": TRAIN,
    "nets.py": f"{NETS}\n\ndef load(model, model_kwargs):\n    kind = NETS.get(model, None)\n    return kind(**model_kwargs)\n",
}


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("wide", "Wide nets.py:15 by model the command: heads=2 train.py:12; default depth=24, rate=0.1"),
        ("deep", "Deep nets.py:25 by model the command: depth=8 train.py:14; default heads=4, rate=0.1"),
    ],
)
def test_the_table_of_the_arm_that_is_taken(tmp_path: Path, model: str, said: str) -> None:
    root = write(FILES, tmp_path)
    sheet = expand_component(root, "run", scope="train.py", recipe=f"python train.py {model}", budget=1500).text
    assert said in sheet


def test_of_two_tables_that_may_be_taken_no_value_is_known(tmp_path: Path) -> None:
    either = TRAIN.replace('if args.model == "wide"', "if torch.cuda.is_available()").replace("elif args", "if args")
    root = write({**FILES, "train.py": either}, tmp_path)
    sheet = expand_component(root, "run", scope="train.py", recipe="python train.py deep", budget=1500).text
    assert "Deep nets.py:25 by model the command: default rate=0.1" in sheet
