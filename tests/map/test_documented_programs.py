"""The program that a documented command starts through its settings, and a loop that a library runs in a class it is given."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import write
from trainsleuth.map import expand_component, map_repository

STEP = """import torch


def train(args):
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=args["lr"])
    for x in torch.ones(8, 4, 2):
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
"""
TRAIN = """import hydra


@hydra.main(config_path="conf", config_name="small")
def main(cfg):
    cls = hydra.utils.get_class(cfg._target_)
    workspace = cls(cfg)
    workspace.run()


if __name__ == "__main__":
    main()
"""
WORKSPACE = """import hydra
import torch


class NAMEWorkspace:
    def __init__(self, cfg):
        self.net = torch.nn.Linear(2, 1)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=cfg.lr)

    def run(self):
        for x in torch.ones(8, 4, 2):
            self.optimizer.zero_grad()
            self.net(x).mean().backward()
            self.optimizer.step()


@hydra.main(config_path="../conf", config_name="small")
def main(cfg):
    NAMEWorkspace(cfg).run()


if __name__ == "__main__":
    main()
"""
README = "Run\n```console\n(near)[net]$ python train.py --config-name=KIND lr=0.3\n```\n"


@pytest.mark.parametrize("kind", ["Near", "Far"])
def test_the_plain_map_is_that_of_the_class_which_the_settings_of_a_documented_command_name(
    tmp_path: Path, kind: str
) -> None:
    files = {f"work/{one.lower()}.py": WORKSPACE.replace("NAME", one) for one in ("Near", "Far", "Other")}
    confs = {
        f"conf/{one.lower()}.yaml": f"_target_: work.{one.lower()}.{one}Workspace\nlr: 0.1\n" for one in ("Near", "Far")
    }
    readme = README.replace("KIND", kind.lower())
    write({**files, **confs, "work/__init__.py": "", "train.py": TRAIN, "README.md": readme}, tmp_path)
    found = map_repository(tmp_path)
    assert found.entry == f"work/{kind.lower()}.py"
    assert f"launch: python train.py --config-name={kind.lower()} lr=0.3 (README.md:3)" in found.text
    scoped = map_repository(tmp_path, "train.py", f"python train.py --config-name={kind.lower()}").text
    assert f"which _target_ names (conf/{kind.lower()}.yaml:1)" in scoped, scoped


GIVEN = """from oatmeal.algorithms import Learner
from oatmeal.interface import get_program, start
from LIBRARY import partial


class OwnLearner(Learner):
    def compute_loss(self, batch):
        return batch.mean()


program = CALL
start(program)
"""


@pytest.mark.parametrize(
    ("library", "call", "trains"),
    [
        ("functools", "get_program(learner_cls=OwnLearner)", True),
        ("functools", "get_program(OwnLearner)", True),
        ("functools", "partial(OwnLearner)", False),
    ],
)
def test_a_library_that_is_given_a_class_below_its_learner_runs_the_loop(
    tmp_path: Path, library: str, call: str, trains: bool
) -> None:
    write({"train.py": GIVEN.replace("LIBRARY", library).replace("CALL", call)}, tmp_path)
    text = map_repository(tmp_path).text
    assert ("oatmeal · trains" in text and "inside oatmeal" in text) is trains, text


SCAFFOLD = {
    "app/main.py": """import argparse

import yaml
from app.scaffold import main as app_main

parser = argparse.ArgumentParser()
parser.add_argument("--fname")
args = parser.parse_args()
with open(args.fname) as file:
    params = yaml.safe_load(file)
app_main(params["app"], args=params)
""",
    "app/scaffold.py": """import importlib


def main(app, args):
    return importlib.import_module(f"app.{app}.train").main(args=args)
""",
    "app/near/train.py": f"def main(args):\n    train(args)\n\n\n{STEP}",
    "app/far/train.py": f"def main(args):\n    train(args)\n\n\n{STEP}",
    "configs/a+b_small.yaml": "app: near\nlr: 0.3\n",
    "configs/b+c_small.yaml": "app: far\nlr: 0.4\n",
}


@pytest.mark.parametrize(("name", "app", "rate"), [("a+b_small", "near", "0.3"), ("b+c_small", "far", "0.4")])
def test_a_module_by_a_setting_that_a_renamed_import_hands_on(tmp_path: Path, name: str, app: str, rate: str) -> None:
    write(SCAFFOLD, tmp_path)
    command = f"python -m app.main --fname configs/{name}.yaml"
    loop = map_repository(tmp_path, "app/main.py", command).components["training_loop"].places
    assert {place.path for place in loop if "train.py" in place.path} == {f"app/{app}/train.py"}
    assert f"lr={rate}" in expand_component(tmp_path, "run", "app/main.py", command).text


def test_the_class_of_the_whole_recipe_counts_and_not_one_of_a_section_whose_file_has_a_demonstration(
    tmp_path: Path,
) -> None:
    agent = WORKSPACE.replace("NAME", "Near").partition("@hydra.main")[0]
    demo = (
        WORKSPACE.replace("NAME", "Joint").partition("@hydra.main")[0]
        + "if __name__ == '__main__':\n    JointWorkspace({'lr': 1}).run()\n"
    )
    conf = "_target_: agent.near.NearWorkspace\nlr: 0.1\njoint:\n  _target_: nets.joint.JointWorkspace\n"
    files = {"agent/near.py": agent, "nets/joint.py": demo, "train.py": TRAIN, "conf/small.yaml": conf}
    write(files, tmp_path)
    found = map_repository(tmp_path, "train.py", "python train.py --config-name=small")
    assert found.entry == "train.py" and "starts no training" not in found.text
    assert "agent/near.py" in {place.path for place in found.components["training_loop"].places}


REGISTRY = {
    "registry.py": """class Registry:
    def __init__(self, name):
        self.name, self.held = name, {}

    def register(self):
        def keep(cls):
            self.held[cls.__name__] = cls
            return cls

        return keep

    def get(self, name):
        return self.held[name]


SHAPES = Registry("shape")
""",
    "nets/__init__.py": """import importlib
import os
from copy import deepcopy

from registry import SHAPES

names = [one[:-3] for one in os.listdir(os.path.dirname(__file__)) if one.endswith("_net.py")]
modules = [importlib.import_module(f"nets.{name}") for name in names]


def build(options):
    options = deepcopy(options)
    kind = options.pop("type")
    return SHAPES.get(kind)(**options)
""",
    "nets/near_net.py": """import torch
from registry import SHAPES


@SHAPES.register()
class Near(torch.nn.Linear):
    pass
""",
    "nets/far_net.py": """import torch
from registry import SHAPES


@SHAPES.register()
class Far(torch.nn.Linear):
    pass
""",
    "model.py": """import torch
from nets import build


class Model:
    def __init__(self, options):
        self.options = options
        self.net = build(options["network_g"])
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def step(self, x):
        self.optimizer.zero_grad()
        self.net(x).mean().backward()
        self.optimizer.step()
""",
    "train.py": """import argparse

import torch
import yaml
from model import Model


def parse_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("-opt")
    args = parser.parse_args()
    with open(args.opt) as file:
        options = yaml.safe_load(file)
    return options, args


def pipeline():
    options, args = parse_options()
    model = Model(options)
    for x in torch.ones(8, 4, 2):
        model.step(x)


pipeline()
""",
    "a.yaml": "network_g:\n  type: Near\n  in_features: 2\n  out_features: 1\n",
    "b.yaml": "other: 1\n",
}


@pytest.mark.parametrize(("recipe", "is_open"), [("a.yaml", False), ("b.yaml", True)])
def test_what_a_section_chooses_is_not_told_as_open(tmp_path: Path, recipe: str, is_open: bool) -> None:
    write(REGISTRY, tmp_path)
    text = map_repository(tmp_path, "train.py", f"python train.py -opt {recipe}").text
    assert ("picks one of 2" in text) is is_open, text
