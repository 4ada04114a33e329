"""A file that the program opens in a folder which options give is not the one of the repository that has its name."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import read_anatomy

TRAIN = """\
import argparse
import json
import os

import torch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--weights", default=None)
    args = parser.parse_args()
    folder = args.weights
    held = json.load(open({opened}))
    net = torch.nn.Linear(2, held["width"])
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for batch in torch.ones(3, 5, 2):
        optimizer.zero_grad()
        net(batch).mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("opened", "is_read"),
    [
        ('args.weights + "/sizes.json"', False),
        ('folder + "large" + "/sizes.json"', False),
        ('os.path.join(args.weights, "sizes.json")', False),
        ('os.path.join(os.path.dirname(__file__), "sizes.json")', True),
        ('"sizes.json"', True),
    ],
)
def test_only_a_file_of_the_repository_itself_sets_anything(tmp_path: Path, opened: str, is_read: bool) -> None:
    (tmp_path / "train.py").write_text(TRAIN.format(opened=opened))
    (tmp_path / "sizes.json").write_text('{"width": 7, "depth": 3}')
    truth = read_anatomy(tmp_path, "train.py", "python train.py --weights /far/weights").truth
    assert truth is not None
    width = {key.name: key.value for key in truth.keys}.get("width")
    assert (width == "7") == is_read
