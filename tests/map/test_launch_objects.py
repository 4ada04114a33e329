"""A launch file that constructs its configuration: arguments are settings, what is left out is a default."""

from __future__ import annotations

from pathlib import Path

import map_depth
import pytest
from trainsleuth.map import expand_component

LAUNCH = """import argparse

from lib import DecayConfig, LossConfig, Saver, SGDConfig, TrainerConfig, Warmup, train


def build_config(opts, overrides):
    folder = opts.folder
    if not folder:
        folder = "runs"
    optim_config = SGDConfig(
        lr=0.25,
        momentum=0.5 * 1.5,
    )
    config = (
        TrainerConfig(
            folder=folder,
            optim=optim_config,
            warmup=Warmup(warmup_steps=100),
            batch_size=opts.batch,
            max_grad_norm=1.5,
            description="a long line of words that says nothing about the run but fills the statement up to its end",
        )
        .with_part("saver", Saver(save_interval=40, folder="checkpoints of this run, with all that it takes to go on"))
        .with_part("spare", Saver(save_interval=80, folder="checkpoints of this run, the second of them, for the rest"))
    )
    config = config.merge(overrides)
    return config


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder")
    parser.add_argument("--batch", type=int, default=16)
    opts, overrides = parser.parse_known_args()
    train(build_config(opts, overrides))


if __name__ == "__main__":
    main()
"""
LIB = """from dataclasses import dataclass, field
from typing import Optional

import torch


@dataclass
class SGDConfig:
    lr: float = 0.1
    momentum: float = 0.0
    weight_decay: float = 0.03

    @classmethod
    def optimizer(cls):
        return torch.optim.SGD

    def build(self, model):
        return self.optimizer()(model.parameters(), lr=self.lr, momentum=self.momentum, weight_decay=self.weight_decay)


@dataclass
class DecayConfig:
    lr: float = 0.7


@dataclass
class LossConfig:
    reduction: str = "sum"


@dataclass
class Warmup:
    warmup: Optional[int] = None
    warmup_steps: Optional[int] = None

    def __post_init__(self):
        if self.warmup is None and self.warmup_steps is not None:
            self.warmup = self.warmup_steps
            self.warmup_steps = None


@dataclass
class Saver:
    save_interval: int = 250
    folder: str = ""
    max_checkpoints: int = 3

    def after(self, step, model):
        if step % self.save_interval == 0:
            torch.save(model.state_dict(), self.folder)


@dataclass
class TrainerConfig:
    folder: str
    optim: SGDConfig
    warmup: Warmup
    batch_size: int = 1
    max_grad_norm: Optional[float] = None
    max_epochs: int = 2
    description: str = ""
    parts: dict = field(default_factory=dict)

    def with_part(self, name, part):
        self.parts[name] = part
        return self

    def merge(self, overrides):
        return self


def train(config):
    model = torch.nn.Linear(4, 1)
    optimizer = config.optim.build(model)
    for epoch in range(config.max_epochs):
        loss = model(torch.ones(config.batch_size, 4)).sum()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), config.max_grad_norm)
        optimizer.step()
        optimizer.zero_grad()
        for part in config.parts.values():
            part.after(epoch, model)
"""
COMMAND = "python train.py --batch 8"


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return map_depth.write({"train.py": LAUNCH, "lib.py": LIB}, tmp_path_factory.mktemp("launch"))


def expand(repository: Path, what: str, budget: int = 600) -> str:
    return expand_component(repository, what, scope="train.py", recipe=COMMAND, budget=budget).text


def test_arguments_stand_over_the_defaults_of_their_class(repository: Path) -> None:
    text = expand(repository, "run", 1500)
    optimizer = "by optim train.py:10: lr=0.25 :11, momentum=0.5 * 1.5 :12; default weight_decay=0.03"
    assert f"SGD through SGDConfig lib.py:8 {optimizer}" in text
    assert "max_grad_norm=1.5 train.py:20" in text
    assert "max_epochs=2 default" in text
    assert "lr=0.1" not in text and "lr=0.7" not in text  # the default that is replaced, a class that nobody makes


def test_an_argument_that_hands_an_option_on_is_worth_the_option(repository: Path) -> None:
    assert "batch_size=opts.batch = 8 train.py:19" in expand(repository, "run", 1500)
    assert "opts.folder = None (train.py:32)" in expand(repository, "open train.py:7")  # not the field of that name


def test_links_of_a_chain_stand_under_their_names(repository: Path) -> None:
    text = expand(repository, "find save_interval")
    assert "saver.save_interval = 40 train.py:23" in text
    assert "spare.save_interval = 80 train.py:24" in text
    assert "saver.max_checkpoints = 3 default" in expand(repository, "find max_checkpoints")


def test_an_asked_line_inside_a_long_statement_shows_its_part(repository: Path) -> None:
    assert ' 24   .with_part("spare", Saver(save_interval=80' in expand(repository, "open train.py:24", 200)


def test_a_field_is_worth_what_the_recipe_gives_and_not_what_a_method_makes_of_it(repository: Path) -> None:
    text = expand(repository, "open Warmup")
    assert "self.warmup_steps = 100 (train.py:18" in text
    assert "self.warmup_steps = None (" not in text
