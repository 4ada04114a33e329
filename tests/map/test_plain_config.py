"""Settings that are neither YAML nor JSON: what is read of them, and what is taken for none."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.facts.reading.plain_config import read_plain
from trainsleuth.map import expand_component, map_repository

TOML = """\
# of one run
[model]
type = "a#b"  # the kind
dims = [
  1, 2,
  3,
]
[model.optim]
given = { lr = 1e-3, name = 'adam' }
"""
HOCON = """\
train {
    lr = 5e-4,
    skips=[4]
    url = http://a/b // of the data
    inner: {
        mode = idr
    }
}
seed = 1
"""
GIN = """import nets
include "base.gin"

once/nets.Wide:
    depth = 4
Run:
    net = @nets.Wide

seed = 1
"""
READ = [
    (TOML, {"model.type": ("a#b", 3), "model.dims.0": ("1", 4), "model.dims.2": ("3", 4), "model.optim.given.lr": ("1e-3", 9)}),
    (HOCON, {"train.lr": ("5e-4", 2), "train.skips.0": ("4", 3), "train.url": ("http://a/b", 4), "train.inner.mode": ("idr", 6), "seed": ("1", 9)}),
    ("[run]\nlr: 0.1 ; low\n", {"run.lr": ("0.1", 2)}),
    ("Model.depth = 4\ntrain.lr = 1e-2\n", {"Model.depth": ("4", 1), "train.lr": ("1e-2", 2)}),
    ("--lr = 0.1\nlr = 0.2\n", {"lr": ("0.2", 2)}),
    (GIN, {"include.2": ("base.gin", 2), "once/nets.Wide.depth": ("4", 5), "Run.net": ("@nets.Wide", 7), "seed": ("1", 9)}),
]  # fmt: skip
NONE = ["scene_1.jpg\nscene_2.jpg\nscale = 2\n", "torch>=2.0\nnumpy\n", "", "}\n]\n[", "a {\n" * 200 + "b\n" * 200]


@pytest.mark.parametrize(("text", "expected"), READ)
def test_values_are_read_with_their_lines(text: str, expected: dict[str, tuple[str, int]]) -> None:
    found = read_plain(text)
    assert {key: found.get(key) for key in expected} == expected


@pytest.mark.parametrize("text", NONE)
def test_what_is_no_file_of_settings_sets_nothing(text: str) -> None:
    assert read_plain(text) == {}


COMMAND = "python train.py --config configs/small.txt"
PROGRAM = """\
import configargparse
import torch

from fields import Glass, Wood


def main():
    parser = configargparse.ArgumentParser()
    parser.add_argument("--config", is_config_file=True)
    parser.add_argument("--kind", default="wood")
    parser.add_argument("--lr", type=float, default=0.1)
    args = parser.parse_args()
    if args.kind == "wood":
        model = Wood()
    elif args.kind == "glass":
        model = Glass()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    for batch in torch.ones(3, 2, 4):
        optimizer.zero_grad()
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
"""
FIELDS = """\
import torch


class Wood(torch.nn.Linear):
    def forward(self, x):
        return x


class Glass(torch.nn.Linear):
    def forward(self, x):
        return -x
"""


def test_a_file_of_settings_that_the_command_names_decides_and_is_shown(tmp_path: Path) -> None:
    files = {"train.py": PROGRAM, "fields.py": FIELDS, "configs/small.txt": "kind = glass\nlr = 0.01\n", "configs/list.txt": "a.png\n"}  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = map_repository(tmp_path, "train.py", COMMAND)
    assert "configs/small.txt" in {place.path for place in found.components["config"].places}
    assert "list.txt" not in found.text
    told = expand_component(tmp_path, "config", "train.py", COMMAND).text
    assert "kind = glass" in told, told
    assert "lr = 0.01" in told, told
