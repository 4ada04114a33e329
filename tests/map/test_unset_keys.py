"""What the sheet of a run says of keys that nobody sets, of other subcommands, other backends and sections that are off."""

from __future__ import annotations

from pathlib import Path

import map_depth
import pytest
from trainsleuth.map import expand_component

MODEL = """import torch
from {name}.registry import MODELS


@MODELS.register("net")
class Net(torch.nn.Module):
    def __init__(self, width=4, {name}_depth=1):
        super().__init__()
        self.layer = torch.nn.Linear(width, 2)

    def forward(self, x):
        return self.layer(x)
"""
REGISTRY = """class Registry:
    def __init__(self):
        self.held = {}

    def register(self, name):
        def keep(cls):
            self.held[name] = cls
            return cls

        return keep

    def get(self, name):
        return self.held[name]


MODELS = Registry()
"""
TRAIN = """import argparse
import json

import torch
import pt.model
from pt.registry import MODELS
from schema import training


class Trainer:
    def __init__(self, config, resume):
        params = config.get("training", {})
        training()
        self.max_norm = params.get("gradient_max_norm", 0.0)
        self.wanted = bool(params.get("logging", {}).get("_deep", False))
        self.dropout = config["lora"]["dropout"] if config["lora"]["enabled"] else 0
        self.net = MODELS.get(config["model"]["type"])(width=config["model"]["width"])
        self.ema = params["enable_ema"] and config["optimizer"]["type"] == "Adam"
        self.opt = torch.optim.Adam(self.net.parameters(), lr=config["lr"])
        self.steps = params["numb_steps"]

    def run(self, loader):
        def step(batch):
            loss = self.net(batch).sum()
            self.opt.zero_grad()
            loss.backward()
            if self.max_norm > 0.0:
                torch.nn.utils.clip_grad_norm_(self.net.parameters(), self.max_norm)
            self.opt.step()
            if self.wanted:
                torch.save(self.net.state_dict(), "deep.pt")

        for _ in range(self.steps):
            for batch in loader:
                step(batch)


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command")
    train = commands.add_parser("train")
    train.add_argument("config")
    train.add_argument("--resume", default="latest")
    freeze = commands.add_parser("freeze")
    freeze.add_argument("--save-frozen", default="frozen.pt")
    args = parser.parse_args()
    if args.command == "train":
        trainer = Trainer(json.load(open(args.config)), args.resume)
        trainer.run(torch.utils.data.DataLoader([torch.ones(4)]))
    elif args.command == "freeze":
        torch.save({}, args.save_frozen)


if __name__ == "__main__":
    main()
"""
SCHEMA = """from args import Argument, Variant


def kinds():
    return Variant("type", [], optional=True, default_tag="Adam")


def training():
    return [Argument("optimizer", dict, [], [kinds()]), Argument("enable_ema", bool, optional=True, default=False)]
"""
CONFIG = """{
  "_comment": "a small run",
  "lr": 0.1,
  "model": {"type": "net", "width": 4, "_comment": "that's all"},
  "lora": {"enabled": false, "dropout": 0.5},
  "wandb_enabled": false,
  "wandb": {"log_name": "mine"},
  "training": {"numb_steps": 700}
}
"""
FILES = {
    "pt/__init__.py": "",
    "pt/main.py": TRAIN,
    "schema.py": SCHEMA,
    "config.json": CONFIG,
    "pt/registry.py": REGISTRY,
    "jax/registry.py": REGISTRY,
    "jax/model.py": MODEL.format(name="jax"),
    "pt/model.py": MODEL.format(name="pt"),
}


@pytest.fixture(scope="module")
def sheet(tmp_path_factory: pytest.TempPathFactory) -> str:
    root = map_depth.write(FILES, tmp_path_factory.mktemp("unset"))
    return expand_component(root, "run", "pt/main.py", "config.json", 2000).text


def test_what_code_and_schema_take_for_an_unset_key_is_its_default(sheet: str) -> None:
    assert "optimizer.type=Adam default" in sheet and "enable_ema=False default" in sheet


def test_a_fallback_decides_a_branch_of_a_function_inside_a_method(sheet: str) -> None:
    assert "off: gradient_max_norm = 0.0 (pt/main.py:14)" in sheet
    assert '"deep.pt") · _deep = False (pt/main.py:15)' in sheet


def test_options_and_code_of_another_subcommand_are_no_part_of_the_run(sheet: str) -> None:
    assert "resume=latest default" in sheet and "frozen" not in sheet


def test_comments_are_no_settings(sheet: str) -> None:
    assert "_comment" not in sheet


def test_a_section_that_is_off_is_told_by_its_switch_alone(sheet: str) -> None:
    assert "wandb_enabled=false" in sheet and "log_name" not in sheet
    assert "lora.enabled=false" in sheet and "dropout" not in sheet


def test_the_length_of_a_run_has_many_names(sheet: str) -> None:
    assert "numb_steps=700" in sheet.partition("# length")[2].partition("# batch")[0]


def test_of_two_backends_that_of_the_entry_counts(sheet: str) -> None:
    assert "Net model.py:6" in sheet and "pt_depth=1" in sheet


GIVEN = """import hydra
import torch


@hydra.main(config_path="conf", config_name="run")
def main(cfg):
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=cfg.lr)
    judge = cfg.data.get("val", False)
    for x in torch.ones(8, 4, 2):
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
        if judge:
            evaluate(net)


def evaluate(net):
    net.eval()
    print(net(torch.ones(4, 2)))


main()
"""


@pytest.mark.parametrize(("data", "is_off"), [("val:\n    size: 3\n  train: 1", False), ("train: 1", True)])
def test_a_key_that_is_a_section_is_set(tmp_path: Path, data: str, is_off: bool) -> None:
    map_depth.write({"train.py": GIVEN, "conf/run.yaml": f"lr: 0.1\ndata:\n  {data}\n"}, tmp_path)
    sheet = expand_component(tmp_path, "run", "train.py", "python train.py").text
    assert ("off: train.py:15 evaluate(net)" in sheet) is is_off, sheet
