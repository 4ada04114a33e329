"""What Python code puts into Hydra's ConfigStore: classes of settings, tables, experiments that build on one another."""

from __future__ import annotations

from pathlib import Path

import map_depth
import pytest
from trainsleuth.map import expand_component, map_repository

CLASSES = """from dataclasses import dataclass, field
from typing import Any, List

import hydra
import torch
from hydra.core.config_store import ConfigStore
from omegaconf import MISSING


@dataclass
class Optimizer:
    lr: float = 0.001


@dataclass
class Adam(Optimizer):
    name: str = "adam"
    decay: float = 0.01


@dataclass
class SGD(Optimizer):
    name: str = "sgd"
    lr: float = 0.1
    momentum: float = 0.9


@dataclass
class Loader:
    size: int = 32
    workers: int = 2


ORDER = [{"optimizer": "adam"}, "_self_"]


@dataclass
class Config:
    defaults: List[Any] = field(default_factory=lambda: ORDER)
    optimizer: Optimizer = MISSING
    loader: Loader = field(default_factory=lambda: Loader(workers=4))
    steps: int = 10


store = ConfigStore.instance()
store.store("config", Config)
for name, node in {"adam": Adam, "sgd": SGD}.items():
    store.store(group="optimizer", name=name, node=node)


def build(cfg, parameters):
    if cfg.name == "adam":
        return torch.optim.Adam(parameters, lr=cfg.lr, weight_decay=cfg.decay)
    return torch.optim.SGD(parameters, lr=cfg.lr, momentum=cfg.momentum)


@hydra.main(version_base=None, config_name="config")
def main(cfg):
    net = torch.nn.Linear(2, 1)
    opt = build(cfg.optimizer, net.parameters())
    for step in range(cfg.steps):
        loss = net(torch.ones(cfg.loader.size, 2)).sum() * cfg.loader.workers
        opt.zero_grad()
        loss.backward()
        opt.step()


if __name__ == "__main__":
    main()
"""


def _values(root: Path, command: str) -> dict[str, str]:
    found = expand_component(root, "config", scope="train.py", recipe=command, budget=9000)
    return {item["name"]: item["value"] for item in found.items}


@pytest.mark.parametrize(
    ("words", "expected", "absent"),
    [
        ("", {"optimizer.lr": "0.001", "optimizer.decay": "0.01", "loader.workers": "4"}, "optimizer.momentum"),
        (
            "optimizer=sgd steps=3",
            {"optimizer.lr": "0.1", "optimizer.momentum": "0.9", "steps": "3"},
            "optimizer.decay",
        ),
    ],
)
def test_an_option_may_be_a_class_and_decides_what_runs(
    words: str, expected: dict[str, str], absent: str, tmp_path: Path
) -> None:
    root = map_depth.write({"train.py": CLASSES}, tmp_path)
    values = _values(root, f"python train.py {words}")
    assert {key: values.get(key) for key in expected} == expected
    assert absent not in values
    sheet = expand_component(root, "run", scope="train.py", recipe=f"python train.py {words}", budget=4000).text
    assert ("torch.optim.SGD(" in sheet) is ("sgd" in words)
    assert ("torch.optim.Adam(" in sheet) is ("sgd" not in words)


def test_what_is_named_and_nobody_has_is_said(tmp_path: Path) -> None:
    root = map_depth.write({"train.py": CLASSES}, tmp_path)
    sheet = expand_component(root, "run", scope="train.py", recipe="python train.py optimizer=lion", budget=4000).text
    assert "builds on optimizer/lion, named in train.py and not found" in sheet


def test_where_the_classes_of_the_run_are_stored_is_shown(tmp_path: Path) -> None:
    named = CLASSES.replace("ORDER", "defaults")
    other = named.replace("def build", 'store.store(group="unused", name="sgd", node=SGD)\n\n\ndef build')
    root = map_depth.write({"train.py": other}, tmp_path)
    found = map_repository(root, "train.py", "python train.py optimizer=adam", budget=9000)
    shown = {other.splitlines()[place.line - 1].strip() for place in found.components["config"].places}
    assert 'store.store("config", Config)' in shown
    assert 'store.store(group="optimizer", name=name, node=node)' in shown
    assert 'defaults = [{"optimizer": "adam"}, "_self_"]' in shown
    assert 'store.store(group="unused", name="sgd", node=SGD)' not in shown


EXPERIMENTS = {
    "train.py": """import argparse
import importlib

import torch
from lazy import instantiate, override


def main(config):
    net = instantiate(config.model.net)
    opt = torch.optim.AdamW(net.parameters(), lr=config.optimizer.lr, weight_decay=config.optimizer.decay)
    for step in range(config.trainer.max_iter):
        loss = net(torch.ones(config.data.size, 2)).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--config")
    parser.add_argument("opts", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    module = importlib.import_module(args.config.replace("/", ".").removesuffix(".py"))
    main(override(module.make_config(), args.opts))
""",
    "lazy.py": "def instantiate(cfg):\n    return cfg['_target_'](**cfg)\n\n\ndef override(config, opts):\n    return config\n",
    "nets.py": "import torch\n\n\nclass Net(torch.nn.Module):\n    def __init__(self, width, depth):\n        super().__init__()\n"
    "        self.layer = torch.nn.Linear(2, width)\n\n    def forward(self, x):\n        return self.layer(x)\n",
    "base.py": "import attrs\n\n\n@attrs.define\nclass Trainer:\n    max_iter: int = 7\n    every: int = 5\n\n\n"
    "@attrs.define\nclass Base:\n    trainer: Trainer = attrs.field(factory=Trainer)\n    optimizer: object = None\n    seed: int = 0\n",
    "configs/config.py": "import attrs\nfrom base import Base\nfrom configs.groups import register\n\n\n@attrs.define\nclass Config(Base):\n"
    "    defaults: list = attrs.field(factory=lambda: ['_self_', {'net': None}, {'optimizer': 'adamw'}, {'data': 'mock'}, {'experiment': None}])\n\n\n"
    "def make_config():\n    c = Config(optimizer=None)\n    c.trainer.every = 50\n    register()\n    return c\n",
    "configs/groups.py": "import copy\n\nfrom hydra.core.config_store import ConfigStore\nfrom lazy_config import LazyCall as L\nfrom nets import Net\n\n"
    "LARGE = L(Net)(width=64, depth=8)\nSMALL = copy.deepcopy(LARGE)\nSMALL.width = 16\nADAMW = dict(lr=1e-3, decay=0.1)\nMOCK = dict(size=4)\n\n\n"
    "def register():\n    cs = ConfigStore.instance()\n    cs.store(group='net', package='model.net', name='large', node=LARGE)\n"
    "    cs.store(group='net', package='model.net', name='small', node=SMALL)\n    cs.store(group='optimizer', package='optimizer', name='adamw', node=ADAMW)\n"
    "    cs.store(group='data', package='data', name='mock', node=MOCK)\n",
    "configs/records.py": "RECORDS = {}\n\n\ndef register(record):\n    RECORDS[record['uid']] = record\n\n\ndef by_id(uid):\n    return RECORDS[uid]\n\n\n"
    "register(dict(uid='d20b7120-df3e', experiment='stage_c'))\nregister(dict(uid='81edfebe-bd6a', experiment='stage_d'))\n"
    "BASES = {'pre': by_id('d20b7120-df3e'), 'post': by_id('81edfebe-bd6a')}\n",
    "experiments/parents.py": "from hydra.core.config_store import ConfigStore\nfrom lazy_config import LazyDict\n\n"
    "STAGE_C = LazyDict(\n    dict(\n        defaults=[{'override /net': 'small'}, '_self_'],\n        job=dict(name='stage_c'),\n        optimizer=dict(lr=2e-3),\n"
    "        trainer=dict(max_iter=900, every=20),\n    ),\n    flags={'allow_objects': True},\n)\n\nfor _item in [STAGE_C]:\n"
    "    ConfigStore.instance().store(group='experiment', package='_global_', name=f\"{_item['job']['name']}\", node=_item)\n",
    "experiments/mine.py": "from hydra.core.config_store import ConfigStore\nfrom configs.records import BASES\n\nBASE = BASES['pre']\n\n"
    "Post_Training = dict(\n    defaults=[\n        f'/experiment/{BASE.experiment}',\n        '_self_',\n    ],\n    trainer=dict(max_iter=300),\n)\n\n"
    "for _item in [Post_Training]:\n    _name = [name.lower() for name, value in globals().items() if value is _item][0]\n"
    "    ConfigStore.instance().store(group='experiment', package='_global_', name=_name, node=_item)\n",
}


def test_an_experiment_builds_on_another_and_exchanges_options(tmp_path: Path) -> None:
    """Names come from a record that is looked up by its identifier, from a table, and from globals()."""
    root = map_depth.write(EXPERIMENTS, tmp_path)
    command = "python train.py --config=configs/config.py -- experiment=post_training optimizer.decay=0.2"
    values = _values(root, command)
    assert values["trainer.max_iter"] == "300"  # of mine.py, over the parent's 900 and the 7 of the class
    assert values["trainer.every"] == "20"
    assert values["optimizer.lr"] == "2e-3"
    assert values["optimizer.decay"] == "0.2"
    assert (values["model.net.width"], values["model.net.depth"]) == ("16", "8")
    assert values["data.size"] == "4"
    shown = expand_component(root, "config", scope="train.py", recipe=command, budget=9000).text
    line = next(one for one in shown.splitlines() if one.startswith(" trainer.every"))
    assert "before 50" in line and ":9" in line  # of config.py, then of parents.py
    assert "builds on" not in expand_component(root, "run", scope="train.py", recipe=command, budget=4000).text
