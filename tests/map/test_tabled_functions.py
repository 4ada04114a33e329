"""Settings of a function that a table offers by a word, which an option says: SIZES[args.size]."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import STEP
from trainsleuth.map import expand_component

TRAIN = """import argparse

import torch

from sizes import SIZES

parser = argparse.ArgumentParser()
parser.add_argument("--size", default="large")
parser.add_argument("--dropout", type=float, default=0.5)
args = parser.parse_args()
config = SIZES[args.size]
config.dropout = args.dropout
net = torch.nn.Linear(config.hidden_size, config.encoder.num_heads)
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=config.dropout)
"""
SIZES = """from ml_collections import ConfigDict


def get_large_config():
    config = ConfigDict()
    config.hidden_size = 64
    config.dropout = 0.1
    config.encoder = ConfigDict()
    config.encoder.num_heads = 8
    return config


def get_wide_config():
    config = get_large_config()
    config.encoder.num_heads = 32
    return config


def get_tiny():
    config = ConfigDict()
    config.hidden_size = 1
    config.encoder = ConfigDict()
    config.encoder.num_heads = 2
    return config


SIZES = {"large": get_large_config(), "wide": get_wide_config(), "tiny": get_tiny()}
"""


@pytest.mark.parametrize(("option", "hidden", "heads"), [("", 64, 8), (" --size wide", 64, 32), (" --size tiny", 1, 2)])
def test_the_function_counts_that_the_option_picks(tmp_path: Path, option: str, hidden: int, heads: int) -> None:
    (tmp_path / "sizes.py").write_text(SIZES)
    (tmp_path / "train.py").write_text(TRAIN + STEP)
    sheet = expand_component(tmp_path, "run", recipe=f"python train.py{option}", budget=3000).text
    assert f"hidden_size={hidden} " in sheet and f"num_heads={heads} " in sheet
    assert sheet.count("hidden_size=") == sheet.count("num_heads=") == 1
    assert "dropout=0.1" not in sheet
