"""A module of settings that the program imports from the path which an option gives, and that does more than assign."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import map_repository, read_anatomy

TRAIN = """\
import argparse
import importlib

import torch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-s", "--settings", default="configs/wide.py")
    args = parser.parse_args()
    args.config = importlib.import_module(args.settings.replace(".py", "").replace("/", "."))
    optimizer = torch.optim.SGD(args.config.net.parameters(), lr=getattr(args.config, "rate", 0.5))
    accumulated_steps = getattr(args.config, "accumulated_steps", 1)
    for place, batch in enumerate(torch.ones(8, args.config.batch_size, 2)):
        loss = args.config.net(batch).mean() / accumulated_steps
        loss.backward()
        if (place + 1) % accumulated_steps == 0:
            optimizer.step()
            optimizer.zero_grad()


if __name__ == "__main__":
    main()
"""
WIDE = """\
import torch

batch_size = 6
accumulated_steps = 4
net = torch.nn.Linear(2, 9)
if batch_size > 4:
    net.load_state_dict(torch.load("wide.pt"))
"""
IMPORTED = TRAIN.replace('.replace(".py", "").replace("/", ".")', "")


@pytest.mark.parametrize("command", ["python train.py", "python train.py -s configs/wide.py"])
def test_what_it_assigns_is_set(tmp_path: Path, command: str) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "configs" / "wide.py").write_text(WIDE)
    truth = read_anatomy(tmp_path, "train.py", command).truth
    assert truth is not None
    keys = {key.name: key.value for key in truth.keys}
    assert keys.items() >= {"batch_size": "6", "accumulated_steps": "4", "rate": "0.5"}.items()
    assert "accumulation" not in map_repository(tmp_path, "train.py", command).text.partition("none found")[2]


def test_elsewhere_such_a_file_is_code(tmp_path: Path) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "train.py").write_text(IMPORTED)
    (tmp_path / "configs" / "wide.py").write_text(WIDE)
    truth = read_anatomy(tmp_path, "train.py", "python train.py").truth
    assert truth is not None
    assert "configs/wide.py" not in truth.program.config_paths
