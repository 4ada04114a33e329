"""One inner function passes over the data of either split; ckpt_path is where a program saves that reads nothing back."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import map_repository

TRAIN = """import torch


class Config:
    ckpt_path = None
    epochs = 3

    def __init__(self, **given):
        for name, value in given.items():
            setattr(self, name, value)


class Trainer:
    def __init__(self, net, config):
        self.net, self.config = net, config

    def save(self):
        torch.save(self.net.state_dict(), self.config.ckpt_path)

    def train(self):
        optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

        def one_pass(split):
            learns = split == "train"
            for x in torch.load(f"{split}.pt") if READS else open(split):
                loss = self.net(x).mean()
                if learns:
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
            return loss

        for epoch in range(self.config.epochs):
            one_pass("train")
            print(one_pass("SPLIT"))
            self.save()


config = Config(epochs=2, ckpt_path="last.pt")
Trainer(torch.nn.Linear(2, 1), config).train()
"""


@pytest.mark.parametrize(("split", "status"), [("valid", "found"), ("rest", "absent")])
def test_a_pass_that_is_told_the_held_out_split_evaluates(split: str, status: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN.replace("SPLIT", split).replace("READS", "split"))
    found = map_repository(tmp_path).components["evaluation"]
    assert found.status == status
    assert (("train.py", 35) in [(one.path, one.line) for one in found.places]) is (status == "found")


PATH = """import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--ckpt_path", default=None)
args = parser.parse_args()
net = torch.nn.Linear(2, 1)
LOAD
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in open("rows.txt"):
    optimizer.zero_grad()
    net(x).mean().backward()
    optimizer.step()
torch.save(net.state_dict(), args.ckpt_path)
"""


@pytest.mark.parametrize("load", ["net.load_state_dict(torch.load(args.ckpt_path))", ""])
def test_a_path_by_which_nothing_is_read_back_resumes_nothing(load: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PATH.replace("LOAD", load))
    said = map_repository(tmp_path, scope="train.py", recipe="python train.py --ckpt_path last.pt").features["resume"]
    assert ("ckpt_path" in said.why or bool(said.places)) is bool(load)
