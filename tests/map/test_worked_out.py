"""Settings that code works out from others, models that are imported by a name, and what a framework takes from them."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import write
from trainsleuth.map import expand_component, map_repository

STEP = "    opt.zero_grad()\n    loss = net(torch.ones(1, 2)).sum()\n    loss.backward()\n    opt.step()\n"
MODES = {
    "main.py": """import argparse

import torch

from steps.both import train_both
from steps.plain import train_plain
from steps.taught import train_taught

parser = argparse.ArgumentParser()
parser.add_argument("--share", type=float, default=0.0)
args = parser.parse_args()
if args.share == 0.0:
    args.mode = "plain"
elif args.share == 1.0:
    args.mode = "taught"
else:
    args.mode = "both"


def pick(args):
    if args.mode == "taught":
        step = train_taught
    elif args.mode == "plain":
        step = train_plain
    elif args.mode == "both":
        step = train_both
    return step, None


step, check = pick(args)
net = torch.nn.Linear(2, 1)
for epoch in range(3):
    step(net, torch.optim.SGD(net.parameters(), lr=0.1))
""",
    **{
        f"steps/{name}.py": f"import torch\n\n\ndef train_{name}(net, opt):\n{STEP}"
        for name in ("both", "plain", "taught")
    },
}


@pytest.mark.parametrize(("share", "name"), [("0", "plain"), ("1.0", "taught"), ("1", "taught"), ("0.5", "both")])
def test_what_code_decides_by_a_setting_is_settled(share: str, name: str, tmp_path: Path) -> None:
    found = map_repository(write(MODES, tmp_path), recipe=f"python main.py --share {share}", budget=4000)
    loops = {place.path for place in found.components["training_loop"].places}
    assert loops & {f"steps/{one}.py" for one in ("both", "plain", "taught")} == {f"steps/{name}.py"}


def test_what_other_code_sets_as_well_is_not_settled(tmp_path: Path) -> None:
    late = MODES["main.py"].replace(
        "\n\ndef pick", "\nif torch.rand(1) > 0.5:\n    args.mode = 'both'\n\n\ndef pick", 1
    )
    found = map_repository(
        write({**MODES, "main.py": late}, tmp_path), recipe="python main.py --share 1.0", budget=4000
    )
    loops = {place.path for place in found.components["training_loop"].places}
    assert {"steps/both.py", "steps/taught.py"} <= loops


COMMAND = "python train.py --cfg small.cfg --learning_rate 5e-5 --num_train_epochs 4 --output_dir out"
TRAINER = {
    "train.py": """import configparser

from transformers import HfArgumentParser, Trainer, TrainingArguments

import tool

given, = HfArgumentParser((TrainingArguments,)).parse_args_into_dataclasses()
cfg = configparser.ConfigParser()
cfg.read("configure/small.cfg")
model = tool.get_model(cfg.model.name)(cfg)
trainer = Trainer(args=given, model=model)
trainer.train()
""",
    "configure/small.cfg": "[model]\nname = unified.fine\n",
    "models/__init__.py": "",
    "models/unified/__init__.py": "",
    "models/unified/fine.py": """import torch
from transformers import AutoModelForSeq2SeqLM


class Model(torch.nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.inner = AutoModelForSeq2SeqLM.from_pretrained("t5-base")

    def forward(self, input_ids, labels):
        loss = self.inner(input_ids=input_ids, labels=labels).loss
        return {"loss": loss}
""",
    "README.md": f"# Small\n\n```\n{COMMAND.replace('5e-5', '1e-3')}\n```\n\nOr\n\n```\n{COMMAND}\n```\n",
}


@pytest.mark.parametrize(
    "body",
    [
        'return importlib.import_module("models.{}".format(name)).Model',
        'Model = importlib.import_module("models.{}".format(name)).Model\n    return Model',
        'module = importlib.import_module(f"models.{name}")\n    return module.Model',
        'return getattr(importlib.import_module("models." + name), "Model")',
    ],
)
def test_a_model_that_a_function_imports_by_its_name_is_the_model_and_makes_the_loss(body: str, tmp_path: Path) -> None:
    tool = f"import importlib\n\n\ndef get_model(name):\n    {body}\n"
    found = map_repository(write({**TRAINER, "tool.py": tool}, tmp_path), scope="train.py", recipe=COMMAND).components
    assert ("models/unified/fine.py", 5) in {(one.path, one.line) for one in found["model"].places}
    assert ("models/unified/fine.py", 11) in {(one.path, one.line) for one in found["loss"].places}
    # what the framework does by itself is told by the line of the README that gives the same command
    assert {(one.path, one.line) for one in found["optimizer_scheduler"].places} == {("README.md", 10)}


FOLDER = {
    "train.py": """import argparse
import imp
import os

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--path")
args = parser.parse_args()
cfg = imp.load_source("conf", os.path.join(args.path, "conf.py")).configuration
net = cfg.model(cfg.width)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(cfg.epochs):
    loss = net(torch.ones(1, 2)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "nets.py": "import torch\n\n\n"
    "class Small(torch.nn.Module):\n    def __init__(self, width):\n        super().__init__()\n        self.fc = torch.nn.Linear(2, 1)\n\n    def forward(self, x):\n        return self.fc(x)\n\n\n"
    "class Large(torch.nn.Module):\n    def __init__(self, width):\n        super().__init__()\n        self.fc = torch.nn.Linear(2, 1)\n\n    def forward(self, x):\n        return self.fc(x)\n",
    **{
        f"configs/{name.lower()}/conf.py": f"from nets import {name}\n\nconfiguration = {{'model': {name}, 'epochs': {epochs}}}\n"
        for name, epochs in (("Small", 3), ("Large", 70))
    },
}


@pytest.mark.parametrize(
    ("given", "epochs", "line"), [("configs/small", "3", 4), ("./configs/large/", "70", 13), ("large", "70", 13)]
)
def test_a_command_may_name_the_folder_of_its_configuration(given: str, epochs: str, line: int, tmp_path: Path) -> None:
    root = write(FOLDER, tmp_path)
    known = {
        one["name"]: one["value"]
        for one in expand_component(root, "config", recipe=f"python train.py --path={given}").items
    }
    assert known.get("configuration.epochs", known.get("epochs")) == epochs
    found = map_repository(root, recipe=f"python train.py --path={given}").components["model"].places
    lines = {one.line for one in found if one.path == "nets.py"}
    assert {line, line + 5} <= lines <= {*range(line, line + 7)}
