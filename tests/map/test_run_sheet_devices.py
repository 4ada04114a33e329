"""The device of a run, where code chooses it and no setting says it."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import expand_component

TRAIN = """
import argparse
import os

import torch
from torch import nn

from places import picked


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--place", default="0")
    args = parser.parse_args()
    model = nn.Linear(4, 4)
    CHOOSES
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for x in torch.load("batches.pt", map_location=torch.device("cpu")):
        loss = model(x.to("cuda")).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
"""
PLACES = """
import torch


def picked(wish):
    device = torch.device("cpu")
    return torch.device(wish) if torch.cuda.is_available() else device
"""


def sheet(root: Path, statement: str) -> str:
    (root / "train.py").write_text(TRAIN.replace("CHOOSES", statement))
    (root / "places.py").write_text(PLACES)
    return expand_component(root, "run", "train.py", "python train.py --place 3").text


@pytest.mark.parametrize(
    "statement",
    [
        'os.environ["CUDA_VISIBLE_DEVICES"] = args.place',
        'device = torch.device(f"cuda:{args.place}")',
        'args.device = "cuda" if torch.cuda.is_available() else "cpu"',
        "device = picked(args.place)",
        "torch.cuda.set_device(args.place)",
        "opts = dict(device=torch.device(args.place))",
        "model = model.to(args.device)",
        "model.cuda()",
    ],
)
def test_a_statement_that_chooses_it_is_told(tmp_path: Path, statement: str) -> None:
    text = sheet(tmp_path, statement)
    _, _, told = text.partition("# devices\n")
    assert told.startswith(f"  train.py:16 {statement}"), text
    assert "cpu" not in told.partition("#")[0].replace('"cpu"\n', "").replace(statement, "")


def test_what_a_setting_is_worth_stands_beside_it(tmp_path: Path) -> None:
    assert "place: 3" in sheet(tmp_path, 'os.environ["CUDA_VISIBLE_DEVICES"] = args.place')


@pytest.mark.parametrize(
    "statement",
    [
        "device = next(model.parameters()).device",
        'args.data_device = "cuda"',
        "opts = dict(width=4, device=model.weight.device)",
        "x = torch.ones(4)",
        "model.to(8)",
    ],
)
def test_what_chooses_none_is_not(tmp_path: Path, statement: str) -> None:
    assert "devices" in sheet(tmp_path, statement).partition("\n#")[0].partition("nothing found")[2]
