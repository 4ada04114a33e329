"""A setting that holds the name of a class, and code that makes another class where it asks for that very value."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import write
from trainsleuth.facts import Class
from trainsleuth.map import read_anatomy

TRAIN = """import argparse

import torch

import kinds
from find import find

parser = argparse.ArgumentParser()
parser.add_argument("--model-name", default="Flat")
parser.add_argument("--optimizer", default="SGD")
args = parser.parse_args()
net = make(args)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    opt.zero_grad()
    net(torch.ones(1, 2)).sum().backward()
    opt.step()
"""
ARMS = TRAIN.replace(
    "parser = ",
    'def make(args):\n    if args.model_name == "Deep":\n        return kinds.DeepOperator()\n'
    '    elif args.model_name == "Flat":\n        return kinds.Flat()\n    raise NotImplementedError\n\n\nparser = ',
    1,
)
BESIDE = TRAIN.replace(
    "parser = ",
    'def make(args):\n    net = find(args)\n    if args.model_name == "Deep":\n        net.scale = kinds.Scale()\n'
    "    return net\n\n\nparser = ",
    1,
)
OTHERS = {
    "kinds.py": "import torch\n\n\n"
    + "\n\n".join(
        f"class {name}(torch.nn.Module):\n    def forward(self, x):\n        return x\n"
        for name in ("Deep", "DeepOperator", "Flat")
    )
    + "\n\nclass Scale:\n    pass\n\n\nclass SGD(torch.optim.Optimizer):\n    pass\n",
    "find.py": "import kinds\n\n\ndef find(args):\n    return vars(kinds)[args.model_name]()\n",
}


@pytest.mark.parametrize(
    ("code", "given", "model"),
    [
        (ARMS, "--model-name Deep", []),
        (ARMS, "--model-name Flat", ["Flat"]),
        (BESIDE, "--model-name Deep", ["Deep"]),
    ],
)
def test_the_class_of_that_name_is_not_what_is_made(tmp_path: Path, code: str, given: str, model: list[str]) -> None:
    root = write({"train.py": code, **OTHERS}, tmp_path)
    program = read_anatomy(root, "train.py", f"python train.py {given}").program
    assert program is not None
    choices = [one.target.name for one in program.choices if one.key == "model_name" and isinstance(one.target, Class)]
    assert choices == model


def test_one_of_a_library_that_is_called_alike_is_made(tmp_path: Path) -> None:
    code = ARMS.replace("opt = torch.optim.SGD", 'if args.optimizer == "SGD":\n    opt = torch.optim.SGD')
    root = write({"train.py": code, **OTHERS}, tmp_path)
    program = read_anatomy(root, "train.py", "python train.py --optimizer SGD").program
    assert program is not None
    assert not [one for one in program.choices if one.key == "optimizer"]
