"""Settings in an object of a table, which a parser is given as defaults by the name that an option says."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import write
from trainsleuth.map import expand_component, read_anatomy

FILES = {
    "presets.py": """PRESETS = {}


class Record(dict):
    def __getattr__(self, name):
        return self[name]

    def __setattr__(self, name, value):
        self[name] = value


small = Record()
small.rate = 0.002
small.size_of_batch = 16
PRESETS["small"] = small

large = Record()
large.update(small)
large.size_of_batch = 64
PRESETS["large"] = large

RATES = Record()
RATES.rate = 7.0
PRESETS["slow"] = {"rate": 0.0001}


def fill(R, parser):
    args = parser.parse_args()
    for name in args.presets.split(","):
        chosen = PRESETS[name]
        parser.set_defaults(**chosen)
    R.update(parser.parse_args().__dict__)
""",
    "train.py": """import argparse

import torch
from presets import Record, fill


def main():
    R = Record()
    parser = argparse.ArgumentParser()
    parser.add_argument("--presets")
    parser.add_argument("--rate", type=float, default=0.5)
    parser.add_argument("--size_of_batch", type=int, default=1)
    parser.add_argument("--momentum", type=float, default=0.9)
    fill(R, parser)
    train(R)


def train(R):
    net = torch.nn.Linear(2, 2)
    opt = torch.optim.SGD(net.parameters(), lr=R.rate, momentum=R.momentum)
    for step in range(3):
        opt.zero_grad()
        net(torch.ones(R.size_of_batch, 2)).sum().backward()
        opt.step()


if __name__ == "__main__":
    main()
""",
}


@pytest.mark.parametrize(
    ("given", "rate", "batch"),
    [
        ("small", "0.002", "16"),
        ("large", "0.002", "64"),
        ("large,slow", "0.0001", "64"),
        ("small --size_of_batch 4", "0.002", "4"),
    ],
)
def test_the_named_object_sets_the_defaults(tmp_path: Path, given: str, rate: str, batch: str) -> None:
    truth = read_anatomy(write(FILES, tmp_path), "train.py", f"python train.py --presets {given}", 2000).truth
    assert truth is not None
    values = {key.name: key.value for key in truth.keys}
    assert (values["rate"], values["size_of_batch"]) == (rate, batch)


def test_what_is_filled_with_the_options_is_read_under_its_name(tmp_path: Path) -> None:
    recipe = "python train.py --presets small"
    sheet = expand_component(write(FILES, tmp_path), "run", scope="train.py", recipe=recipe, budget=1500).text
    assert "train.py: momentum=0.9 :13" in sheet
