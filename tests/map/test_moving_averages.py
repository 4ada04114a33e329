"""Functions of a program that move the weights of one network towards those of another."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import map_repository

TRAIN = """\
import torch


def moved(net, smooth, share=0.99):
    for mine, other in zip(net.parameters(), smooth.parameters()):
        {statement}


def main():
    net, smooth = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for batch in torch.ones(8, 4, 2):
        opt.zero_grad()
        net(batch).mean().backward()
        opt.step()
        moved(net, smooth)


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("statement", "averages"),
    [
        ("other.data = torch.lerp(mine.data, other.data, share)", True),
        ("other.data = mine.data.lerp(other.data, share)", True),
        ("other.data = torch.clamp(mine.data, -share, share)", False),
    ],
)
def test_an_interpolation_into_the_data_is_one(tmp_path: Path, statement: str, averages: bool) -> None:
    (tmp_path / "train.py").write_text(TRAIN.format(statement=statement))
    assert (map_repository(tmp_path).features["ema"].status == "found") == averages
