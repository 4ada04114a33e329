"""A class that stands in a table of arguments which a call spreads; a default that a file of settings replaces."""

from __future__ import annotations

from pathlib import Path

from map_depth import write
from trainsleuth.map import map_repository

TRAIN = """import argparse

import torch
import yaml

import nets
from filler import Filler, kept


def classes(word):
    if word == "sparse":
        made, around = nets.SparseNet, Filler
    elif word == "dense":
        made, around = nets.DenseNet, Filler
    return made, around


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model-name", default="sparse")
    parser.add_argument("--config")
    args = parser.parse_args()
    for key, value in yaml.safe_load(open(args.config)).items():
        setattr(args, key, value)
    net_class, around = classes(args.model_name)
    more = dict(net_class=net_class, depth=2)
    handed = kept({**vars(args), **more}, around)
    filler = around(**handed)
    opt = torch.optim.SGD(filler.parameters(), lr=0.1)
    for step in range(3):
        opt.zero_grad()
        filler(torch.ones(1, 2)).sum().backward()
        opt.step()


if __name__ == "__main__":
    main()
"""
FILLER = """import torch


def kept(args, cls):
    return {key: args[key] for key in ("net_class", "depth")}


class Filler(torch.nn.Module):
    def __init__(self, net_class, depth):
        super().__init__()
        self.net_cls = net_class
        self.net = self.net_cls(depth)

    def forward(self, x):
        return self.net(x)
"""
PART = "class {0}(torch.nn.Module):\n    def forward(self, x):\n        return x * {1}\n\n\n"
NETS = "import torch\n\n\n" + "".join(PART.format(one, 2) for one in ("SparseNet", "DenseNet"))
FILES = {
    "train.py": TRAIN,
    "filler.py": FILLER,
    "nets.py": NETS + "from layers import Sparse\n",
    "layers.py": "import torch\n\n\n" + PART.format("Sparse", 3),
    "dense.yaml": "model_name: dense\n",
}


def test_the_class_of_the_table_is_the_model(tmp_path: Path) -> None:
    made = map_repository(write(FILES, tmp_path), scope="train.py", recipe="python train.py --config dense.yaml")
    shown = {(place.path, place.line) for place in made.components["model"].places}
    dense = NETS.count("\n", 0, NETS.index("class DenseNet")) + 1
    assert ("nets.py", dense) in shown and ("nets.py", 4) not in shown
    assert not any(path == "layers.py" for path, _ in shown)
