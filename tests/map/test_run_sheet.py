"""The run on one sheet: settings by what they are about, lists in order, what is built, files, per batch or epoch."""

from __future__ import annotations

from pathlib import Path

import map_depth
import pytest
from trainsleuth.map import expand_component
from trainsleuth.map.expansion.run_sheet.topics import topic_of

TRAIN = """import argparse
from enum import Enum

import torch
import yaml

from hydra.utils import instantiate
from lib.registry import SCHEDULES, build_transforms
from lib.settings import EmaConfig, TrainConfig


class Mode(Enum):
    PLAIN = "plain"
    PARALLEL = "parallel"


class Trainer:
    def __init__(self, conf):
        self.conf = conf
        self.train_config = TrainConfig(**conf["train"])
        self.ema_config = EmaConfig(**conf["train"].get("ema_config", {}))
        self.model = torch.nn.Linear(4, 2)
        self.best_name = "best.ckpt"

    def save(self, name):
        torch.save(self.model.state_dict(), name)

    def fit(self, loader):
        optimizer = torch.optim.SGD(self.model.parameters(), lr=self.train_config.lr)
        scheduler = SCHEDULES[self.conf["schedule"]["type"]](optimizer)
        loss = instantiate(self.conf["loss"])
        if self.train_config.mode == Mode.PARALLEL:
            self.model = torch.nn.DataParallel(self.model)
        for epoch in range(self.train_config.epochs):
            for batch, target in loader:
                value = loss(self.model(batch), target)
                value.backward()
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.train_config.max_grad_norm)
                optimizer.step()
                optimizer.zero_grad()
                scheduler.step()
            if epoch % 5 == 0:
                self.save(f"epoch_{epoch}.pt")
            self.save("last.pt")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("config")
    args = parser.parse_args()
    with open(args.config) as file:
        conf = yaml.safe_load(file)
    dataset = build_transforms(conf["data"]["train_transforms"])
    Trainer(conf).fit(torch.utils.data.DataLoader(dataset, batch_size=conf["data"]["batch_size"]))


if __name__ == "__main__":
    main()
"""
FILES = {
    "train.py": TRAIN,
    "lib/__init__.py": "",
    "lib/settings.py": """class TrainConfig:
    def __init__(self, **kwargs):
        self.lr = kwargs.get("lr", 1e-3)
        self.epochs = kwargs.get("epochs", 1)
        self.mode = kwargs.get("mode", "plain")
        self.max_grad_norm = kwargs.get("max_grad_norm", 1.5)


class EmaConfig:
    def __init__(self, **kwargs):
        self.beta = kwargs.get("beta", 15)
""",
    "lib/registry.py": """import torch


class FocalLoss(torch.nn.Module):
    def __init__(self, alpha=0.25, power=2.0, reduction="mean"):
        super().__init__()
        self.alpha = alpha

    def forward(self, logits, target):
        return (logits - target).mean()


class Cosine(torch.optim.lr_scheduler.LambdaLR):
    pass


class Flip:
    def __init__(self, prob=0.5):
        self.prob = prob


class Blur:
    pass


SCHEDULES = {"cosine": Cosine}
TRANSFORMS = {"Flip": Flip, "Blur": Blur}


def build_transforms(given):
    return [TRANSFORMS[name](**arguments) for one in given for name, arguments in one.items()]
""",
    "conf/run.yaml": """train:
  lr: 0.3
  epochs: 12
  lr_warmup_steps: 40
  ema_config:
    beta: 7
schedule:
  type: cosine
loss:
  _target_: lib.registry.FocalLoss
  alpha: 0.9
data:
  batch_size: 8
  train_transforms:
    - Flip:
        prob: 0.2
    - Blur
    - Flip:
        prob: 0.7
  val_transforms:
    - Blur
    - Flip:
        prob: 1
""",
}


@pytest.fixture(scope="module")
def sheet(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    root = map_depth.write(FILES, tmp_path_factory.mktemp("sheet"))
    text = expand_component(root, "run", scope="train.py", recipe="conf/run.yaml", budget=2000).text
    parts = [part.partition("\n") for part in text.split("\n# ")]
    return {name: lines for name, _, lines in parts} | {"": text}


def test_a_list_of_what_is_built_is_one_line_in_order(sheet: dict[str, str]) -> None:
    assert "data.train_transforms A: 0 Flip(prob=0.2) :16 · 1 Blur :17 · 2 Flip(prob=0.7) :19" in sheet["augmentation"]
    assert "val_transforms" not in sheet["augmentation"]


def test_a_class_that_takes_a_section_apart_has_defaults(sheet: dict[str, str]) -> None:
    assert "lr=0.3 A:2" in sheet["optimizer"]
    assert "max_grad_norm=1.5 default B:6" in sheet["clipping"]


def test_a_setting_belongs_to_its_section(sheet: dict[str, str]) -> None:
    assert "beta=7" in sheet["averaged weights"] and "beta" not in sheet["optimizer"]


def test_what_a_recipe_builds_has_its_arguments_and_the_defaults_of_its_signature(sheet: dict[str, str]) -> None:
    built = "FocalLoss registry.py:4 by loss A:10: alpha=0.9 :11; default power=2.0, reduction=mean"
    assert built in sheet["loss"]


def test_statements_say_how_often_they_run(sheet: dict[str, str]) -> None:
    assert "scheduler.step() · each batch" in sheet["schedule"]
    assert (
        "files: epoch_{epoch}.pt train.py:43 each epoch when epoch % 5 == 0, last.pt train.py:44 each epoch"
        in sheet["saved"]
    )


def test_a_branch_that_an_enumeration_decides_is_no_part_of_the_run(sheet: dict[str, str]) -> None:
    assert "DataParallel" not in sheet[""]


@pytest.mark.parametrize(
    ("name", "topic"),
    [
        ("optimizer.params.0.lr", "optimizer"),
        ("ema_params.beta", "averaged weights"),
        ("optim_wrapper.clip_grad.max_norm", "clipping"),
        ("lr_scheduler.gamma", "schedule"),
        ("Criterion.gamma", "loss"),
        ("val_dataloader.batch_size", "evaluated"),
        ("sample.seed", "evaluated"),
        ("train_dataset.transforms.3.type", "augmentation"),
        ("model.backbone.type", "model"),
        ("train.save_every", "saved"),
        ("gradient_accumulation_steps", "accumulation"),
        ("colour", ""),
    ],
)
def test_each_name_has_one_topic(name: str, topic: str) -> None:
    assert topic_of(name) == topic


WORKERS = {
    "run.py": """import argparse

import yaml

from lib.policy import Policy

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--config")
    with open(parser.parse_args().config) as file:
        config = yaml.safe_load(file)
    policy = Policy(config["policy"])
    for step in range(config["max_steps"]):
        policy.train(step)
""",
    "lib/__init__.py": "",
    "lib/policy.py": """from lib.group import start


class Policy:
    def __init__(self, config):
        sharded = bool(config.get("sharded_cfg", {}).get("enabled", False))
        if sharded:
            path = start("lib.sharded.ShardedWorker", config)
        else:
            use_v2 = config.get("plain_cfg", {}).get("_v2", False)
            if use_v2:
                path = start("lib.second.SecondWorker", config)
            else:
                path = start("lib.plain.PlainWorker", config)
        self.worker = path

    def train(self, step):
        self.worker.call("train", step)
""",
    "lib/group.py": """import importlib


def start(path, config):
    module, _, name = path.rpartition(".")
    return Group(getattr(importlib.import_module(module), name)(config))


class Group:
    def __init__(self, worker):
        self.worker = worker

    def call(self, name, *given):
        return getattr(self.worker, name)(*given)
""",
    **{
        f"lib/{name}.py": f"""import torch

from lib.losses import make_loss


class {name.capitalize()}Worker:
    def __init__(self, config):
        self.model = torch.nn.Linear(4, 1)
        self.optimizer = torch.optim.{optimizer}(self.model.parameters(), lr=config["lr"])
        self.loss_fn = make_loss(config["loss"])

    def train(self, step):
        loss = self.loss_fn(self.model(torch.randn(2, 4)), torch.randn(2, 1))
        loss.backward()
        self.optimizer.step()
        torch.save(self.model.state_dict(), f"step_{{step}}.pt")
"""
        for name, optimizer in (("sharded", "Adam"), ("second", "RMSprop"), ("plain", "SGD"))
    },
    "lib/losses.py": """import torch


class FarLoss(torch.nn.Module):
    def forward(self, output, target):
        loss_far = torch.nn.functional.l1_loss(output, target)
        return loss_far


class NearLoss(torch.nn.Module):
    def __init__(self, near_weight, far_weight=0.0):
        super().__init__()
        self.near_weight, self.far_weight = near_weight, far_weight

    def forward(self, output, target):
        rows = output.shape[0]
        norm = 1.0 / rows
        loss_near = torch.nn.functional.mse_loss(output, target, reduction="sum")
        loss_far = (output - target).abs().max()
        loss = self.near_weight * norm * loss_near + self.far_weight * loss_far
        return loss


def make_loss(config):
    kind = config.get("type", "far")
    if kind == "near":
        return NearLoss(config["near_weight"])
    return FarLoss()
""",
    "conf/run.yaml": """max_steps: 20
policy:
  lr: 0.1
  sharded_cfg:
    enabled: false
    lr: 0.2
  plain_cfg:
    enabled: true
  loss:
    type: near
    near_weight: 2.5
""",
}


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> str:
    root = map_depth.write(WORKERS, tmp_path_factory.mktemp("workers"))
    return expand_component(root, "run", scope="run.py", recipe="conf/run.yaml", budget=1200).text


def test_the_class_that_a_string_chooses_is_said_first_and_no_other_shows(workers: str) -> None:
    chosen = workers.partition("# back end\n")[2].partition("\n#")[0]
    assert "PlainWorker plain.py:6, named policy.py:14 · when not (sharded) and not (use_v2)" in chosen
    assert "use_v2: _v2=False policy.py:10" in chosen
    assert "optim.SGD" in workers and "Adam" not in workers and "RMSprop" not in workers


def test_the_loss_is_what_its_chosen_class_computes(workers: str) -> None:
    assert "loss = self.near_weight * norm * loss_near + self.far_weight * loss_far (norm = 1.0 / rows)" in workers
    assert 'mse_loss(output, target, reduction="sum")' in workers
    assert "l1_loss" not in workers


RESUMED = """import os
import sys

import torch

resume, out = sys.argv[1:3]
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if resume:
    before = os.path.join(resume, "checkpoint_weights.bin")
    if os.path.exists(before):
        model.load_state_dict(torch.load(before))
saved = os.path.join(out, "checkpoint_last.pt")
for step in range(10):
    loss = model(torch.ones(1, 4)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
torch.save(model.state_dict(), saved)
"""


def test_the_file_of_a_run_before_is_none_that_this_one_writes(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(RESUMED)
    text = expand_component(tmp_path, "run").text
    assert "files: checkpoint_last.pt" in text
    assert "checkpoint_weights.bin train.py" not in text


def test_a_name_that_is_bound_to_itself_and_saved_ends(tmp_path: Path) -> None:
    twice = "state = model.state_dict()\nif out:\n    state = state\ntorch.save(state, saved)"
    (tmp_path / "train.py").write_text(RESUMED.replace("torch.save(model.state_dict(), saved)", twice))
    for what in ("run", "checkpointing"):
        assert "torch.save(state, saved)" in expand_component(tmp_path, what).text
