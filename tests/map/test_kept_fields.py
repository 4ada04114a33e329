"""An option that code hands to a field only when it says something leaves the field as it is when it is not given."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import expand_component

TRAIN = """import argparse

import torch


class Config:
    epochs = 40
    optimizer_config = {"name": "SGD", "lr": 0.02}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=NOTHING)
    parser.add_argument("--lr", type=float, default=NOTHING)
    args = parser.parse_args()
    config = Config
    if TEST_EPOCHS:
        config.epochs = args.epochs
    if TEST_LR:
        config.optimizer_config["lr"] = args.lr
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=config.optimizer_config["lr"])
    for epoch in range(config.epochs):
        net(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    MORE


if __name__ == "__main__":
    main()
"""


def _sheet(folder: Path, command: str, nothing: str, test: str, more: str = "print(config)") -> str:
    filled = TRAIN.replace("NOTHING", nothing).replace("MORE", more)
    for name in ("epochs", "lr"):
        filled = filled.replace(f"TEST_{name.upper()}", test.replace("X", f"args.{name}"))
    (folder / "train.py").write_text(filled)
    return expand_component(folder, "run", "train.py", command).text


@pytest.mark.parametrize(("nothing", "test"), [("0", "X"), ("None", "X is not None"), ("''", "X"), ("0", "X > 0")])
def test_what_is_not_given_leaves_the_field(nothing: str, test: str, tmp_path: Path) -> None:
    sheet = _sheet(tmp_path, "python train.py", nothing, test)
    assert "epochs=40" in sheet
    assert "lr=0.02" in sheet
    assert not any(said in sheet for said in ("epochs=0", "epochs=None", "epochs=''", "lr=0 ", "lr=None"))


def test_what_is_given_fills_the_field(tmp_path: Path) -> None:
    sheet = _sheet(tmp_path, "python train.py --epochs 7", "0", "X")
    assert "epochs=7" in sheet
    assert "epochs=40" not in sheet
    assert "lr=0.02" in sheet


def test_an_option_that_is_read_elsewhere_too_is_told(tmp_path: Path) -> None:
    assert "epochs=0" in _sheet(tmp_path, "python train.py", "0", "X", more="print(args.epochs)")
