"""The run on one sheet: what a recipe's names and texts choose, and defaults that it replaces under a longer name."""

from __future__ import annotations

from pathlib import Path

import map_depth
import pytest
from trainsleuth.map import expand_component

NETS = """import torch

TABLE = {}


def register(cls):
    TABLE[cls.__name__] = cls
    return cls


@register
class Pyramid(torch.nn.Module):
    def __init__(self, channels=4, convs=3, slope=0.5):
        super().__init__()
        self.layer = torch.nn.Linear(channels, convs)

    def forward(self, x):
        return self.layer(x)


@register
class Flat(torch.nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.layer = torch.nn.Linear(width, 1)

    def forward(self, x):
        return self.layer(x)


def of(settings, prefix):
    return {key[len(prefix):]: one for key, one in settings.items() if key.startswith(prefix)}


def build(settings):
    return TABLE[settings["decoder"]](**of(settings, "decoder_"))
"""
TRAIN = """import sys

import torch
import yaml

from nets import build


def make_loss(name):
    if name == "dice":
        return torch.nn.HuberLoss()
    elif name == "ce":
        return torch.nn.CrossEntropyLoss()
    raise ValueError(name)


def criterion(cfg):
    loss = cfg["loss"]
    if isinstance(loss, str):
        return make_loss(loss)
    elif isinstance(loss, list):
        return [make_loss(one) for one in loss]
    raise ValueError(loss)


def main():
    cfg = yaml.safe_load(open(sys.argv[1]))
    net = build(cfg["model"])
    loss_fn = criterion(cfg)
    optimizer = torch.optim.SGD(net.parameters(), lr=cfg["lr"])
    for epoch in range(cfg["epochs"]):
        for batch, target in torch.load("data.pt"):
            loss = loss_fn(net(batch), target)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()


if __name__ == "__main__":
    main()
"""
RECIPE = "model:\n  decoder: Pyramid\n  decoder_channels: 8\n  decoder_convs: 2\nloss: dice\nlr: 0.1\nepochs: 2\n"
BARE = NETS.replace('of(settings, "decoder_")', "settings")


def sheet(root: Path, **changed: str) -> str:
    files = {"train.py": TRAIN, "nets.py": NETS, "run.yaml": RECIPE}
    map_depth.write(files | {name.replace("_", "."): text for name, text in changed.items()}, root)
    return expand_component(root, "run", recipe="python train.py run.yaml", budget=3000).text


def test_a_prefix_that_code_strips_is_none_of_the_name(tmp_path: Path) -> None:
    line = next(one for one in sheet(tmp_path).splitlines() if "Pyramid" in one and "by decoder" in one)
    assert "decoder_channels=8 :3, decoder_convs=2 :4" in line
    assert line.endswith("default slope=0.5")


def test_a_prefix_that_no_code_has_belongs_to_the_name(tmp_path: Path) -> None:
    line = next(one for one in sheet(tmp_path, nets_py=BARE).splitlines() if "Pyramid" in one and "by decoder" in one)
    assert "default channels=4, convs=3" in line


def test_a_text_of_a_file_is_no_list(tmp_path: Path) -> None:
    text = sheet(tmp_path)
    assert "HuberLoss" in text
    assert "CrossEntropyLoss" not in text
    assert "for one in loss" not in text


@pytest.mark.parametrize("value", ["[dice, ce]", "${oc.env:LOSS}"])
def test_what_is_no_plain_text_may_be_either(tmp_path: Path, value: str) -> None:
    assert "CrossEntropyLoss" in sheet(tmp_path, run_yaml=RECIPE.replace("loss: dice", f"loss: {value}"))


def test_an_option_may_be_made_a_list_of_by_its_parser(tmp_path: Path) -> None:
    parsed = TRAIN.replace(
        "    cfg = yaml.safe_load(open(sys.argv[1]))\n",
        '    import argparse\n\n    parser = argparse.ArgumentParser()\n    parser.add_argument("--loss", type=listed, default="ce")\n'
        "    parser.set_defaults(**yaml.safe_load(open(sys.argv[1])))\n    cfg = vars(parser.parse_args(sys.argv[2:]))\n",
    )
    assert "CrossEntropyLoss" in sheet(tmp_path, train_py=parsed)
