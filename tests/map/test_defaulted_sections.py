"""Files whose sections each replace some values of a section DEFAULT, and that lie in the root."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import read_anatomy

TRAIN = """\
import argparse

import toml
import torch


def settings_of(path, section):
    table = toml.load(path)
    return {**table["DEFAULT"], **table[section]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant")
    parser.add_argument("--settings", default="variants.toml")
    args = parser.parse_args()
    config = settings_of(args.settings, args.variant)
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"])
    for _ in range(config["epochs"]):
        for batch in torch.ones(3, 2, 2):
            optimizer.zero_grad()
            model(batch).mean().backward()
            optimizer.step()


if __name__ == "__main__":
    main()
"""
VARIANTS = "[DEFAULT]\nlr = 0.1\nepochs = 4\n[small]\nlr = 0.2\n[large]\nepochs = 9\n"
OWN = VARIANTS + "warmup = 3\n"


@pytest.mark.parametrize(
    ("text", "recipe", "expected"),
    [
        (VARIANTS, "python train.py small", {"lr": "0.2", "epochs": "4"}),
        (VARIANTS, "python train.py large", {"lr": "0.1", "epochs": "9"}),
        (VARIANTS, "variants.toml", {"lr": "0.1", "epochs": "4"}),
        (OWN, "python train.py small", {"DEFAULT.lr": "0.1", "small.lr": "0.2", "large.warmup": "3"}),
    ],
)
def test_the_section_that_is_named_replaces_what_default_says(
    tmp_path: Path, text: str, recipe: str, expected: dict[str, str]
) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "variants.toml").write_text(text)
    (tmp_path / "pyproject.toml").write_text("[tool]\nlr = 7\n")
    truth = read_anatomy(tmp_path, "train.py", recipe).truth
    assert truth is not None
    set_ = {key.name: key.value for key in truth.keys if any(layer.how == "file" for layer in key.layers)}
    assert expected.items() <= set_.items()
    assert len(set_) == (len(expected) if text == VARIANTS else 5)
