"""What the settings of a recipe or a command decide: flags that negate, branches, features, lists in order."""

from __future__ import annotations

from pathlib import Path

import map_depth
from trainsleuth.map import expand_component, map_repository

SCRIPT = """import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--no-shuffle", action="store_false", dest="shuffle")
parser.add_argument("--drop", action=argparse.BooleanOptionalAction, default=True)
parser.add_argument("--kind", default="sgd")
parser.add_argument("--amp", action="store_true")
parser.add_argument("--steps", type=int, default=5)
args = parser.parse_args()
kind = args.kind.lower()
if args.kind == "lion":
    args.steps = 9
net = torch.nn.Linear(2, 1)
if kind == "lion":
    opt = torch.optim.SGD(net.parameters(), lr=0.5)
elif kind == "adam":
    opt = torch.optim.Adam(net.parameters(), lr=0.1)
for step in range(args.steps):
    loss = net(torch.ones(1, 2)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
COMMAND = "python train.py --no-shuffle --no-drop --kind Adam"


def test_a_flag_that_negates_switches_off_and_a_branch_not_taken_changes_nothing(tmp_path: Path) -> None:
    root = map_depth.write({"train.py": SCRIPT}, tmp_path)
    known = {item["name"]: item for item in expand_component(root, "config", recipe=COMMAND).items}
    assert (known["shuffle"]["value"], known["drop"]["value"]) == ("False", "False")
    assert "no_drop" not in known
    assert [layer["how"] for layer in known["steps"]["layers"]] == ["default"]


def test_a_branch_is_read_through_the_name_that_holds_the_setting(tmp_path: Path) -> None:
    root = map_depth.write({"train.py": SCRIPT}, tmp_path)
    shown = expand_component(root, "optimizer_scheduler", recipe=COMMAND).text
    assert "SGD(" not in shown
    assert "# off\n  kind = Adam" in shown
    steps = expand_component(root, "training_loop", recipe=COMMAND).text
    assert "mixed_precision: off: amp = False (default, train.py:8)" in steps


RECIPE = """shared = dict(mean=[0.5], std=[0.25])
model = dict(type="Net", width=8, head=dict(type="Head", **shared))
"""
NETS = """from registry import MODELS
from torch import nn


class Base(nn.Module):
    def __init__(self, frozen=-1, smooth=0.1, width=4):
        super().__init__()


@MODELS.register_module()
class Head(Base):
    def __init__(self, mean, std, swap=False, **kwargs):
        super().__init__(smooth=0.0, **kwargs)


@MODELS.register_module()
class Net(Base):
    def __init__(self, head, depth=3, **kwargs):
        super().__init__(**kwargs)
"""


def test_what_a_recipe_leaves_out_is_told_with_its_signature(tmp_path: Path) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "a.py").write_text(RECIPE)
    (tmp_path / "registry.py").write_text("from mmengine import Registry\n\nMODELS = Registry('model')\n")
    (tmp_path / "nets.py").write_text(NETS)
    (tmp_path / "train.py").write_text(
        "import nets\nfrom mmengine.config import Config\nfrom mmengine.runner import Runner\n\n"
        "cfg = Config.fromfile('configs/a.py')\nrunner = Runner.from_cfg(cfg)\nrunner.train()\n"
    )
    text = expand_component(tmp_path, "model", scope="train.py", recipe="configs/a.py", budget=1500).text
    assert "mean=[0.5] configs/a.py:1" in text or "mean=[0.5] :1" in text
    assert "default: Net: nets.py:18 depth=3; nets.py:6 frozen=-1, smooth=0.1" in text, text
    assert "default: Head: nets.py:12 swap=False; nets.py:6 frozen=-1, width=4" in text, text


TRAIN = """import os
import torch
from nets import Net

net = Net(head=None)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(9):
    loss = net(torch.ones(1, 2)).sum()
    loss.backward()
    if not torch.isfinite(loss):
        opt.zero_grad()
        continue
    opt.step()
    if step % 3 == 0:
        name = f"model.{step}.pt"
        path = os.path.join("out", name)
        torch.save({"net": net.state_dict()}, path)
"""
NET = """from torch import nn


class Net(nn.Module):
    def __init__(self, head):
        super().__init__()
        self.out = nn.Linear(2, 1)

    def forward(self, x):
        return self.out(x)
"""


def test_how_a_guarded_block_is_left_and_how_a_checkpoint_is_called(tmp_path: Path) -> None:
    root = map_depth.write({"train.py": TRAIN, "nets.py": NET}, tmp_path)
    loop = expand_component(root, "training_loop", budget=1500).text
    assert "11 opt.zero_grad()\n     when not torch.isfinite(loss)\n     then continue :12" in loop, loop
    saved = expand_component(root, "checkpointing", budget=1500).text
    assert 'where 16 path = os.path.join("out", name)' in saved, saved
    assert 'where 15 name = f"model.{step}.pt"' in saved, saved
    assert "when step % 3 == 0" in saved


def test_the_bodies_of_what_a_recipe_names_are_opened_and_its_registry_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "a.py").write_text('model = dict(type="Net", head=None)\n')
    (tmp_path / "registry.py").write_text("from mmengine import Registry\n\nMODELS = Registry('model')\n")
    (tmp_path / "nets.py").write_text(
        "from registry import MODELS\n" + NET.replace("class Net", "@MODELS.register_module()\nclass Net")
    )
    (tmp_path / "train.py").write_text(
        "import nets\nfrom mmengine.config import Config\nfrom mmengine.runner import Runner\n\n"
        "cfg = Config.fromfile('configs/a.py')\nrunner = Runner.from_cfg(cfg)\nrunner.train()\n"
    )
    text = expand_component(tmp_path, "model", scope="train.py", recipe="configs/a.py", budget=1500).text
    assert text.count("   | return self.out(x)\n") == 1, text
    assert "Registry(" not in text


def test_an_alias_inside_of_itself_is_left_out_and_told(tmp_path: Path) -> None:
    root = map_depth.write({"train.py": SCRIPT, "train.yaml": "lr: 1\nloop: &a [*a, *a]\n"}, tmp_path)
    assert "train.yaml: more than 20000 nodes, or an alias inside of what it names" in map_repository(root).text


BY_NAME = """import argparse
import importlib

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.05)
parser.add_argument("--net", default="small")
args = parser.parse_args()
net = importlib.import_module(args.net).Net()
optimizer = torch.optim.SGD(net.parameters(), lr=args.lr)
for step in range(9):
    optimizer.zero_grad()
    net(torch.ones(1, 2)).sum().backward()
    optimizer.step()
"""


def test_the_experiment_of_another_project_sets_nothing(tmp_path: Path) -> None:
    config = "from sacred import Experiment\n\nex = Experiment('b')\n\n\n@ex.config\ndef config():\n    lr = 0.9\n"
    net = "import torch\n\n\nclass Net(torch.nn.Linear):\n    def __init__(self):\n        super().__init__(2, 2)\n"
    files = {"a/train.py": BY_NAME, "a/small.py": net, "b/b/config.py": config}
    found = expand_component(map_depth.write(files, tmp_path), "run", "a/train.py", "python train.py --net small").text
    assert "lr=0.05 default" in found and "0.9" not in found


BLOCK = """import argparse
import torch
import yaml


def main(steps, sizes):
    for step in range(steps):
        loss = net(torch.ones(1, 2), sizes).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()


parser = argparse.ArgumentParser()
parser.add_argument("--config")
with open(parser.parse_args().config) as file:
    cfg = yaml.safe_load(file)
sizes = cfg["sizes"]
net = torch.nn.Linear(2, 1)
loader = torch.utils.data.DataLoader(torch.ones(4, 2), batch_size=4, collate_fn=sizes)
opt = torch.optim.SGD(net.parameters(), lr=cfg["lr"])
main(cfg["steps"], sizes)
"""


def test_a_value_of_several_lines_is_told_in_one(tmp_path: Path) -> None:
    settings = "lr: 0.5\nsteps: 3\nsizes: |\n  {\n    'paper': [15, 10],\n    'author': [5]\n  }\n"
    root = map_depth.write({"train.py": BLOCK, "small.yaml": settings}, tmp_path)
    shown = expand_component(root, "run", recipe="python train.py --config small.yaml").text
    assert "'paper': [15, 10], 'author': [5] }" in shown
    assert not any(line.startswith("  'author'") for line in shown.splitlines())
