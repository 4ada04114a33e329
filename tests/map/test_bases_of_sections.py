"""A section of a recipe that builds on a file of its own, and options that a variable of the shell gives."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import read_anatomy
from trainsleuth.map.configuration import Key

TRAIN = """import argparse

import torch
import yaml


class Small(torch.utils.data.Dataset):
    pass


class Large(torch.utils.data.Dataset):
    pass


SETS = {"Small": Small, "Large": Large}


def merged(config, new):
    if "_BASE_CONFIG_" in new:
        config.update(yaml.safe_load(open(new["_BASE_CONFIG_"])))
    for key, value in new.items():
        if isinstance(value, dict):
            merged(config.setdefault(key, {}), value)
        else:
            config[key] = value
    return config


def fitted(model, optimizer, data):
    for batch in torch.utils.data.DataLoader(data):
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cfg_file")
    parser.add_argument("--start", default=None)
    parser.add_argument("--lr", type=float, default=0.1)
    args = parser.parse_args()
    cfg = merged({}, yaml.safe_load(open(args.cfg_file)))
    model = torch.nn.Linear(2, 1)
    if args.start is not None:
        model.load_state_dict(torch.load(args.start))
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    fitted(model, optimizer, SETS[cfg["DATA"]["KIND"]]())


if __name__ == "__main__":
    main()
"""


@pytest.fixture
def keys(tmp_path: Path) -> dict[str, Key]:
    (tmp_path / "tools" / "cfgs" / "sets").mkdir(parents=True)
    (tmp_path / "tools" / "train.py").write_text(TRAIN)
    (tmp_path / "tools" / "cfgs" / "sets" / "large.yaml").write_text("KIND: Large\nPATH: ../data\nDEPTH: {FIRST: 1}\n")
    (tmp_path / "tools" / "cfgs" / "a.yaml").write_text(
        "DATA:\n  _BASE_CONFIG_: cfgs/sets/large.yaml\n  PATH: /here\n  DEPTH:\n    _BASE_CONFIG_: none.yaml\n"
    )
    recipe = "cd tools && python train.py --cfg_file cfgs/a.yaml --start ${START} --lr $LR"
    truth = read_anatomy(tmp_path, "tools/train.py", recipe).truth
    assert truth is not None
    return {key.name: key for key in truth.keys}


def test_a_section_stands_on_its_base(keys: dict[str, Key]) -> None:
    assert keys["DATA.KIND"].value == "Large"
    assert [layer.value for layer in keys["DATA.PATH"].layers] == ["../data", "/here"]
    assert keys["DATA.DEPTH.FIRST"].value == "1"
    assert "KIND" not in keys


def test_an_option_that_the_shell_gives_is_not_nothing(keys: dict[str, Key]) -> None:
    assert keys["start"].value == "${START}"
    assert keys["lr"].value == "0.1"  # what $LR holds is not known; the default may decide branches
