"""The sheet of one run of a program that has many: subcommands, trainers beside each other, classes of settings of others."""

from __future__ import annotations

from pathlib import Path

import map_depth
import pytest
from trainsleuth.map import expand_component

CLI = """
import typer
from lab.tune import tune
from lab.commands import train


def get_app():
    app = typer.Typer()
    app.command()(train)
    app.command(name="tune")(tune)
    return app


if __name__ == "__main__":
    get_app()()
"""
COMMANDS = """
from lab.settings import RunConfig


def train(config: str):
    import lab

    cfg = RunConfig.from_yaml(config)
    lab.train(cfg)
"""
PACKAGE = """
def train(cfg):
    import lab.train

    return lab.train.train(cfg)
"""
SETTINGS = """
from dataclasses import dataclass, field
from enum import Enum


class TrainerType(str, Enum):
    PLAIN = "plain"
    OUTER = "outer"


@dataclass
class Base:
    @classmethod
    def from_yaml(cls, path):
        ...


@dataclass
class DistillParams(Base):
    kd_weight: float = 0.7

    def __post_init__(self):
        if self.kd_weight < 0:
            raise ValueError("kd_weight")

    def to_kwargs(self):
        return {"kd_weight": self.kd_weight}


@dataclass
class ShardParams(Base):
    enable_shard: bool = False
    train_micro_batch_size: int = 3


@dataclass
class OptimParams(Base):
    trainer_type: TrainerType = TrainerType.OUTER
    lr: float = 0.1
    max_steps: int = 5
    distill: DistillParams = field(default_factory=DistillParams)

    def to_outer(self):
        kwargs = {}
        if self.trainer_type == TrainerType.OUTER:
            kwargs = self.distill.to_kwargs()
        return kwargs


@dataclass
class ModelParams(Base):
    width: int = 4


@dataclass
class RunConfig(Base):
    model: ModelParams = field(default_factory=ModelParams)
    optim: OptimParams = field(default_factory=OptimParams)
    shard: ShardParams = field(default_factory=ShardParams)


@dataclass
class SearchParams(Base):
    search_batch_size: int = 77
"""
TUNE = """
from lab.settings import SearchParams


def tune(config: str):
    params = SearchParams()
    for _ in range(params.search_batch_size):
        print(open("lab/search_config.yaml").read())
"""
TRAIN = """
from lab.settings import TrainerType
from lab.trainers import OuterTrainer, PlainTrainer


def build_trainer(trainer_type):
    def _make_plain():
        def _init_plain(*args):
            return PlainTrainer(*args)

        return _init_plain

    def _make_outer():
        def _init_outer(*args):
            return OuterTrainer(*args)

        return _init_outer

    if trainer_type == TrainerType.PLAIN:
        return _make_plain()
    elif trainer_type == TrainerType.OUTER:
        return _make_outer()
    raise NotImplementedError(trainer_type)


def train(cfg):
    if cfg.shard.enable_shard:
        print(cfg.shard.train_micro_batch_size)
    create = build_trainer(cfg.optim.trainer_type)
    trainer = create(cfg)
    trainer.fit()
"""
TRAINERS = """
import torch


class PlainTrainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.net = torch.nn.Linear(cfg.model.width, 1)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=cfg.optim.lr)

    def fit(self):
        for step in range(self.cfg.optim.max_steps):
            loss = self.net(torch.ones(2, self.cfg.model.width)).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()


class OuterTrainer:
    def __init__(self, cfg):
        self.settings = open("lab/outer_config.yaml").read()
        self.kwargs = cfg.optim.to_outer()

    def fit(self):
        outer_batch_size = 12
        loader = torch.utils.data.DataLoader([1, 2], batch_size=outer_batch_size)
        for batch in loader:
            print(batch, self.kwargs)
"""
FILES = {
    "lab/cli.py": CLI,
    "lab/commands.py": COMMANDS,
    "lab/__init__.py": PACKAGE,
    "lab/settings.py": SETTINGS,
    "lab/tune.py": TUNE,
    "lab/train.py": TRAIN,
    "lab/trainers.py": TRAINERS,
    "lab/search_config.yaml": "search:\n  batch_size: 55\n",
    "lab/outer_config.yaml": "actor:\n  lr: 9.0\n  batch_size: 44\n",
    "configs/run.yaml": "model:\n  width: 8\noptim:\n  trainer_type: PLAIN\n  lr: 0.3\n",
    "other/configs/run.yaml": "optim:\n  lr: 0.9\n",
}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return map_depth.write(FILES, tmp_path_factory.mktemp("lab"))


def asked(root: Path, what: str) -> str:
    command = "python lab/cli.py train --config configs/run.yaml"
    return expand_component(root, what, scope="lab/cli.py", recipe=command, budget=6000).text


def test_what_another_subcommand_sets_is_not_told(lab: Path) -> None:
    sheet = asked(lab, "run")
    assert "lr=0.3" in sheet and "torch.optim.SGD" in sheet
    assert "77" not in sheet and "55" not in sheet


def test_what_the_trainer_of_another_arm_sets_is_not_told(lab: Path) -> None:
    sheet = asked(lab, "run")
    assert "44" not in sheet and "9.0" not in sheet and "kd_weight" not in sheet
    assert "DataLoader" not in sheet


def test_a_section_that_a_switch_of_its_own_name_keeps_off_is_not_told(lab: Path) -> None:
    assert "train_micro_batch_size" not in asked(lab, "run")


def test_a_function_in_a_function_that_nothing_calls_is_off(lab: Path) -> None:
    lines = asked(lab, "lines Trainer\\(|_make in train.py")
    assert "return OuterTrainer(*args)  # off" in lines and "return _make_outer()  # off" in lines
    assert "return PlainTrainer(*args)\n" in lines and "return _make_plain()\n" in lines


def test_of_files_that_are_called_alike_the_one_of_the_run_counts(lab: Path) -> None:
    lines = asked(lab, "lines lr in configs/run.yaml")
    assert "0.3" in lines and "0.9" not in lines


METHODS = """
from pydantic import BaseModel

import torch

_LEGACY = "train.Student"


class MethodArgs(BaseModel):
    def resolve(self):
        ...


class DinoArgs(MethodArgs):
    momentum_start: float = 0.992
    hidden_dim: int = 33

    def resolve(self):
        return self.hidden_dim


class PairArgs(MethodArgs):
    hidden_dim: int = 66
    temperature: float = 0.17


class HeadConfig(BaseModel):
    normed: bool = False


class Student:
    frozen = torch.nn.Linear(1, 1).requires_grad_(False)


class Pair:
    @staticmethod
    def args_cls():
        return PairArgs


class Dino:
    def __init__(self, method_args: MethodArgs, head: HeadConfig):
        self.method_args = method_args
        self.net = torch.nn.Linear(method_args.hidden_dim, 1)
        self.head_config = head

    @staticmethod
    def args_cls():
        return DinoArgs

    def groups(self):
        held = []
        for name, one in self.net.named_parameters():
            group = {"params": [one], "lr": 0.1, "weight_decay": 0.4}
            if name.endswith(".bias"):
                group["weight_decay"] = 0.0
            if "embed" in name:
                group["lr"] = group["lr"] * 0.2
            held.append(group)
        return held

    def fit(self):
        opt = torch.optim.SGD(self.groups(), lr=0.1)
        if self.head_config.normed:
            opt = torch.optim.Adam(self.groups(), lr=0.1)
        for step in range(3):
            loss = self.net(torch.ones(1, self.method_args.hidden_dim)).sum() * self.method_args.momentum_start
            opt.zero_grad()
            loss.backward()
            opt.step()


METHODS = {"dino": Dino, "pair": Pair}


def cli(config):
    command = str(config["command"]).lower()
    if command == "pretrain":
        run = pretrain
    elif command == "export":
        run = export
    run(config)


def export(config):
    opset_batch_size = 88
    torch.utils.data.DataLoader([1], batch_size=opset_batch_size)


def pretrain(config):
    method = METHODS[config["method"]]
    args = method.args_cls()()
    method(args, HeadConfig(normed=True)).fit()


if __name__ == "__main__":
    import sys

    cli({"command": sys.argv[1], **dict(one.split("=") for one in sys.argv[2:])})
"""


@pytest.fixture(scope="module")
def methods(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return map_depth.write({"train.py": METHODS}, tmp_path_factory.mktemp("methods"))


def of_methods(root: Path, what: str) -> str:
    return expand_component(
        root, what, scope="train.py", recipe="python train.py pretrain method=dino", budget=6000
    ).text


def test_the_settings_that_the_chosen_class_names_are_told_and_not_those_of_its_sisters(methods: Path) -> None:
    sheet = of_methods(methods, "run")
    assert "hidden_dim=33" in sheet and "momentum_start=0.992" in sheet
    assert "=66" not in sheet and "0.17" not in sheet


def test_the_first_word_of_the_command_decides_where_code_compares_it(methods: Path) -> None:
    assert "DataLoader" not in of_methods(methods, "run")
    assert "run = export  # off" in of_methods(methods, "lines run = in train.py")


def test_the_default_of_a_class_that_code_makes_with_another_value_decides_nothing(methods: Path) -> None:
    lines = of_methods(methods, "lines Adam in train.py")
    assert "torch.optim.Adam" in lines and "# off" not in lines
    assert "normed=False" not in of_methods(methods, "run")


def test_a_constant_that_nothing_reads_chooses_no_class(methods: Path) -> None:
    assert "Student" not in of_methods(methods, "run")


def test_a_rate_of_its_own_is_not_told_as_being_without_decay(methods: Path) -> None:
    sheet = of_methods(methods, "run")
    assert "without decay: train.py" in sheet and '"embed" in name' not in sheet


HYPERS = """
from typing import Generic, Optional, TypedDict, TypeVar

import torch

T = TypeVar("T")


class NetHypers(TypedDict):
    width: int = 12


class FitHypers(TypedDict):
    num_epochs: int = 1000
    learning_rate: float = 1e-4
    weight_decay: Optional[float] = None


class OldHypers(TypedDict):
    num_epochs: int = 7


class Net(torch.nn.Module):
    def __init__(self, hypers: NetHypers):
        super().__init__()
        self.layer = torch.nn.Linear(hypers["width"], 1)

    def forward(self, x):
        return self.layer(x)


class Trainer:
    def __init__(self, hypers: FitHypers):
        self.hypers = hypers

    def fit(self, net):
        if self.hypers["weight_decay"] is not None:
            opt = torch.optim.AdamW(net.parameters(), weight_decay=self.hypers["weight_decay"])
        else:
            opt = torch.optim.Adam(net.parameters(), lr=self.hypers["learning_rate"])
        for epoch in range(self.hypers["num_epochs"]):
            loss = net(torch.ones(1, 12)).sum()
            opt.zero_grad()
            loss.backward()
            opt.step()


NETS = {"net": Net}


def main(path):
    import yaml

    options = yaml.safe_load(open(path))
    net = NETS[options["architecture"]["name"]](options["architecture"].get("model", {}))
    Trainer(options["architecture"]["training"]).fit(net)


if __name__ == "__main__":
    import sys

    main(sys.argv[1])
"""


def test_what_the_recipe_sets_stands_before_the_default_of_the_parameter_that_gets_it(tmp_path: Path) -> None:
    recipe = "architecture:\n  name: net\n  training:\n    num_epochs: 100\n"
    map_depth.write({"train.py": HYPERS, "options.yaml": recipe}, tmp_path)
    sheet = expand_component(tmp_path, "run", scope="train.py", recipe="python train.py options.yaml", budget=6000).text
    assert "num_epochs=100 options.yaml:4" in sheet and "=1000" not in sheet and "=7" not in sheet
    assert "learning_rate=1e-4 default" in sheet and "width=12" in sheet
    assert "torch.optim.Adam(" in sheet


OWN = """
import torch


class Trainer:
    def __init__(self, net, opt, max_steps=100, precision="amp", save_interval=50, clip=None):
        self.net, self.opt, self.max_steps, self.clip = net, opt, max_steps, clip
        self.precision, self.save_interval = precision, save_interval

    def fit(self):
        for step in range(self.max_steps):
            loss = self.net(torch.ones(1, 2)).sum()
            self.opt.zero_grad()
            loss.backward()
            if self.clip:
                torch.nn.utils.clip_grad_norm_(self.net.parameters(), self.clip)
            self.opt.step()
            if step % self.save_interval == 0:
                torch.save(self.net.state_dict(), "net.pt")
"""
STARTED = """
import torch
from lib.trainer import Trainer

net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
Trainer(net=net, opt=opt, max_steps=7, precision="fp32").fit()
Trainer(net=net, opt=opt, max_steps=9, precision="fp32").fit()
"""


def test_what_the_program_gives_its_own_trainer_is_told_with_the_defaults_of_the_rest(tmp_path: Path) -> None:
    map_depth.write({"train.py": STARTED, "lib/__init__.py": "", "lib/trainer.py": OWN}, tmp_path)
    sheet = expand_component(tmp_path, "run", scope="train.py", budget=6000).text
    assert "max_steps=7 train.py:7 (may become 9 train.py:8)" in sheet
    assert "precision=fp32 train.py:7" in sheet and "save_interval=50 default" in sheet
    assert "opt=opt train.py" not in sheet and "precision=amp" not in sheet


EXPERIMENTS = {
    "main.py": "import importlib\nimport sys\n\n\ndef load(path):\n"
    "    module = importlib.import_module(path.removesuffix('.py').replace('/', '.'))\n"
    "    return [one for one in vars(module).values() if isinstance(one, type)][-1]()\n\n\n"
    "if __name__ == '__main__':\n    experiment = load(sys.argv[1])\n    pipeline = experiment.pipeline()\n"
    "    net, opt = experiment.parts()\n    import torch\n    for step in range(pipeline['num_steps']):\n"
    "        loss = net(torch.ones(1, 2)).sum()\n        opt.zero_grad()\n        loss.backward()\n"
    "        torch.nn.utils.clip_grad_norm_(net.parameters(), pipeline['max_grad_norm'])\n        opt.step()\n",
    "experiments/__init__.py": "",
    "experiments/base.py": "import torch\n\n\nclass Base:\n    sensors = None\n    save_interval = 9\n\n"
    "    def parts(self):\n        lr = 3e-4\n        net = torch.nn.Linear(2, 1)\n"
    "        return net, torch.optim.Adam(net.parameters(), lr=lr)\n\n"
    "    def pipeline(self):\n        max_grad_norm = 0.5\n        num_steps = int(3e7)\n"
    "        return dict(max_grad_norm=max_grad_norm, num_steps=num_steps)\n",
    "experiments/ant.py": "from experiments.base import Base\n\n\nclass Ant(Base):\n    sensors = [object()]\n    save_interval = 77\n",
    "experiments/bee.py": "from experiments.base import Base\n\n\nclass Bee(Base):\n    save_interval = 55\n",
}


def test_a_recipe_that_is_a_class_sets_what_its_methods_and_those_of_its_bases_bind(tmp_path: Path) -> None:
    map_depth.write(EXPERIMENTS, tmp_path)
    sheet = expand_component(
        tmp_path, "run", scope="main.py", recipe="python main.py experiments/ant.py", budget=6000
    ).text
    assert "lr=3e-4" in sheet and "max_grad_norm=0.5" in sheet and "num_steps=3e7" in sheet
    assert "save_interval=77" in sheet and "55" not in sheet and "sensors=None" not in sheet


FILLED = """
import argparse
from dataclasses import dataclass

import torch


@dataclass
class FitArgs:
    num_epochs: int = 0
    lr_power: float = 0.0


class Trainer:
    def __init__(self, fit_args: FitArgs):
        self.args = fit_args

    def fit(self):
        net = torch.nn.Linear(2, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for epoch in range(self.args.num_epochs):
            loss = net(torch.ones(1, 2)).sum() ** self.args.lr_power
            opt.zero_grad()
            loss.backward()
            opt.step()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--num_epochs", type=int, default=3)
    parser.add_argument("--lr_power", type=float, default=2.0)
    Trainer(FitArgs(**vars(parser.parse_args()))).fit()
"""


def test_options_stand_before_the_defaults_of_the_class_that_they_fill(tmp_path: Path) -> None:
    map_depth.write({"train.py": FILLED}, tmp_path)
    sheet = expand_component(
        tmp_path, "run", scope="train.py", recipe="python train.py --num_epochs 4", budget=6000
    ).text
    assert "num_epochs=4 the command" in sheet and "num_epochs=0" not in sheet and "lr_power=0.0" not in sheet


TWO_NETS = {
    "train.py": "import importlib\nimport sys\n\nimport torch\nimport yaml\n\nimport nets\n\n\ndef main():\n"
    "    cfg = yaml.safe_load(open(sys.argv[1]))\n    net = getattr(nets, cfg['model'])()\n    opt = net.optimizer()\n    print(net.trainer.max_epochs)\n"
    + map_depth.STEP.replace("\n", "\n    ")
    + "\n\n\nif __name__ == '__main__':\n    main()\n",
    "nets/__init__.py": "from .far import Far\nfrom .near import Near\n",
    "nets/near.py": "import torch\n\nCONFIG = {'trainer': {'clip_val': 0.5}, 'optimizer': {'lr': 0.25}}\n\n\n"
    "class Near(torch.nn.Module):\n    def forward(self, x):\n        return x\n\n    def optimizer(self):\n"
    "        return torch.optim.SGD(self.parameters(), **CONFIG['optimizer'])\n",
    "nets/far.py": "import torch\n\nCONFIG = {'trainer': {'max_epochs': 77}, 'optimizer': {'lr': 0.75}}\n\n\n"
    "class Far(torch.nn.Module):\n    def forward(self, x):\n        return 2 * x\n\n    def optimizer(self):\n"
    "        return torch.optim.Adam(self.parameters(), **CONFIG['optimizer'])\n",
    "near.yaml": "model: Near\n",
}


def test_tables_beside_a_class_that_was_not_chosen_are_not_told(tmp_path: Path) -> None:
    for name, text in TWO_NETS.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    sheet = expand_component(tmp_path, "run", recipe="near.yaml", budget=2000).text
    assert "0.25" in sheet and "77" not in sheet and "0.75" not in sheet
    (tmp_path / "nets/near.py").write_text(
        TWO_NETS["nets/near.py"].replace("import torch\n", "import torch\n\nfrom .far import CONFIG as FAR\n", 1)
    )
    assert "77" in expand_component(tmp_path, "run", recipe="near.yaml", budget=2000).text
