"""A task that is put into a registry with its classes of settings: which of them hold for this run, and their values."""

from __future__ import annotations

from pathlib import Path

import map_depth
from trainsleuth.map import expand_component

FILES = {
    "train.py": """import argparse

import torch
from tasks import task_registry

parser = argparse.ArgumentParser()
parser.add_argument("--task", default="flat")
args = parser.parse_args()
robot, train_cfg = task_registry.make(args.task)
net = torch.nn.Linear(2, 2)
opt = torch.optim.SGD(net.parameters(), lr=train_cfg.algorithm.learning_rate)
for step in range(train_cfg.runner.max_iterations):
    loss = net(torch.ones(1, 2)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "tasks/__init__.py": """from .configs import Flat, FlatTraining, Rough, RoughTraining
from .registry import task_registry
from .robots import Robot

task_registry.register("rough", Robot, Rough(), RoughTraining())
task_registry.register("flat", Robot, Flat(), FlatTraining())
""",
    "tasks/registry.py": """class TaskRegistry:
    def __init__(self):
        self.robots, self.envs, self.trainings = {}, {}, {}

    def register(self, name, robot, env_cfg, train_cfg):
        self.robots[name], self.envs[name], self.trainings[name] = robot, env_cfg, train_cfg

    def make(self, name):
        return self.robots[name](), self.trainings[name]


task_registry = TaskRegistry()
""",
    "tasks/robots.py": "class Robot:\n    pass\n",
    "tasks/configs.py": """class Rough:
    class env:
        num_envs = 4096


class Flat(Rough):
    class env(Rough.env):
        num_envs = 512


class RoughTraining:
    class algorithm:
        learning_rate = 1.0e-3
        entropy_coef = 0.01

    class runner:
        max_iterations = 1500


class FlatTraining(RoughTraining):
    class runner(RoughTraining.runner):
        max_iterations = 300
""",
}


def _sheet(folder: Path, command: str) -> str:
    map_depth.write(FILES, folder)
    return expand_component(folder, "run", scope="train.py", recipe=command, budget=1500).text


def test_the_settings_of_the_task_are_told_with_those_that_they_inherit(tmp_path: Path) -> None:
    sheet = _sheet(tmp_path, "python train.py --task flat")
    assert "max_iterations=300" in sheet and "num_envs=512" in sheet
    assert "learning_rate=1.0e-3" in sheet and "=1500" not in sheet and "=4096" not in sheet


def test_those_of_another_task_are_not(tmp_path: Path) -> None:
    sheet = _sheet(tmp_path, "python train.py --task rough")
    assert "max_iterations=1500" in sheet and "num_envs=4096" in sheet and "=300" not in sheet
