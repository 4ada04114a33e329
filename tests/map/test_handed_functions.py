"""A function of a module that is handed on to be called: Process(target=learner.run)."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import expand_component, map_repository

LAUNCH = """
from multiprocessing import Process

import learner

def launch():
    process = Process(target=learner.run, args=[0])
    process.start()

if __name__ == "__main__":
    launch()
"""
LEARNER = """
import torch

def run(rank):
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for x, y in torch.load("batches.pt"):
        loss = (model(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
PLAYER = """
class Player:
    def run(self):
        return 1
"""


def test_the_way_through_a_process_is_read(tmp_path: Path) -> None:
    for name, text in (("launch", LAUNCH), ("learner", LEARNER), ("player", PLAYER)):
        (tmp_path / f"{name}.py").write_text(text)
    found = map_repository(tmp_path, None, "python launch.py").text
    assert "loss.backward()" in found
    assert "how it is reached was not read" not in found


TABLE = {
    "main.py": """
from launching import launch
from makers import get_trainer, get_data

def main():
    launch(get_trainer=get_trainer, get_data=get_data)

if __name__ == "__main__":
    main()
""",
    "launching.py": """
from base import run as run_experiment

def launch(get_trainer=None, get_data=None):
    makers = dict()
    makers["get_trainer"] = get_trainer
    makers["get_data"] = get_data
    run_experiment(makers)
""",
    "base.py": """
def run(makers):
    trainer = makers["get_trainer"](makers["get_data"]())
    trainer.fit()
""",
    "makers.py": """
from trainers import Fast

def get_trainer(data):
    return Fast(data)

def get_data():
    return [1, 2]
""",
    "trainers.py": """
import torch

class Base:
    def __init__(self, data):
        self.data = data
        self.net = torch.nn.Linear(1, 1)
        self.optimizer = torch.optim.SGD(self.net.parameters(), 0.1)

    def fit(self):
        for one in self.data:
            self.step(one)

class Fast(Base):
    def step(self, one):
        loss = self.net(torch.ones(1, 1) * one).sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

class Slow(Base):
    def step(self, one):
        self.net(torch.ones(1, 1)).sum().backward()
        self.optimizer.step()
""",
}


def test_a_table_is_filled_key_by_key_and_handed_on_under_another_name(tmp_path: Path) -> None:
    for name, text in TABLE.items():
        (tmp_path / name).write_text(text)
    found = map_repository(tmp_path, "main.py", "python main.py").text
    assert "11 for one in self.data:" in found and "how it is reached was not read" not in found
    loop = found.partition("# training loop")[2].partition("\n#")[0]
    assert "18 loss.backward()" in loop and "24" not in loop  # the step of the class that is made


EXPERIMENTS = {
    "train.py": """
import argparse
import importlib
import os
import sys

import torch
from multiprocessing import Process
from launching import launch

def main(RANKexperiment, args):
    Worker(experiment, args).train()

class Worker:
    def __init__(self, experiment, args):
        self.experiment = experiment

    def train(self):
        model = self.experiment.get_model()
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for step in range(9):
            optimizer.zero_grad()
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()

def load(path):
    sys.path.append(os.path.dirname(path))
    return importlib.import_module(os.path.basename(path).split(".")[0]).Own()

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("-f")
    args = parser.parse_args()
    experiment = load(args.f)
    STARTS
""",
    "launching.py": "def launch(function, count, args=()):\n    function(*args)\n",
    "base.py": """
import torch

class Base:
    def get_model(self):
        return torch.nn.Linear(2, 1)
""",
    "experiments/large.py": "from base import Base\n\nclass Own(Base):\n    depth = 9\n",
    "experiments/tiny.py": """
import torch
from base import Base

class Own(Base):
    depth = 1

    def get_model(self):
        return torch.nn.Bilinear(2, 2, 1)
""",
}


@pytest.mark.parametrize(
    "starts",
    [
        "launch(main, 8, args=(experiment, args))",
        "torch.multiprocessing.spawn(main, args=(experiment, args), nprocs=8)",
        "Process(target=main, args=[experiment, args]).start()",
    ],
)
def test_a_function_gets_the_arguments_that_are_handed_over_with_it(starts: str, tmp_path: Path) -> None:
    for name, text in EXPERIMENTS.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text.replace("STARTS", starts).replace("RANK", "rank, " * ("spawn" in starts)))
    found = map_repository(tmp_path, "train.py", "python train.py -f experiments/large.py")
    model = {(place.path, place.text.strip()) for place in found.components["model"].places}
    assert ("base.py", "return torch.nn.Linear(2, 1)") in model
    assert "experiments/tiny.py" not in {path for path, _ in model}


STARTER = """
import subprocess
import sys
from argparse import ArgumentParser, REMAINDER

def main():
    parser = ArgumentParser()
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("script")
    parser.add_argument("rest", nargs=REMAINDER)
    args = parser.parse_args()
    for rank in range(args.count):
        command = [sys.executable, args.script]
        command.extend(args.rest)
        command += ["--shared", "True", "--rank", str(rank)]
        if args.count > 8:
            command += ["--many", "True"]
        subprocess.Popen(command).wait()

if __name__ == "__main__":
    main()
"""
SHARED = """
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--shared", type=bool, default=False)
parser.add_argument("--many", type=bool, default=False)
parser.add_argument("--rank", type=int, default=0)
args = parser.parse_args()
if args.shared:
    torch.distributed.init_process_group("nccl", rank=args.rank)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for x in torch.load("batches.pt"):
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("command", "shared"),
    [
        ("python launch.py --count 4 main.py --lr 1", "True"),
        ("python launch.py --count 4 main.py --shared False", "False"),
        ("python main.py --lr 1", "False"),
    ],
)
def test_what_a_launcher_of_the_repository_appends_is_given(command: str, shared: str, tmp_path: Path) -> None:
    (tmp_path / "launch.py").write_text(STARTER)
    (tmp_path / "main.py").write_text(SHARED)
    found = map_repository(tmp_path, "main.py", command)
    assert found.features["distribution"].status == ("found" if shared == "True" else "absent")
    items = expand_component(tmp_path, "config", "main.py", command, budget=3000).items
    values = {item["name"]: item["value"] for item in items}
    assert (values["shared"], values["many"], values["rank"]) == (shared, "False", "0")
