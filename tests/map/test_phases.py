"""One loop over an epoch's phases trains in one round and evaluates in the next."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import map_repository

TRAIN = """
import torch
from torch import nn

LOADERS = {"train": torch.load("train.pt"), "valid": torch.load("valid.pt")}


def round_of(model, optimizer, batches, phase):
    with torch.set_grad_enabled(phase == "train"):
        for x in batches:
            loss = model(x).square().mean()
            if phase == "train":
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()


def main(phases=("train", "dev")):
    model = nn.Linear(4, 4)
    optimizer = torch.optim.Adam(model.parameters())
    loaders = {"train": LOADERS["train"], "valid": LOADERS["valid"]}
    for epoch in range(3):
        LOOP:
            model.train(phase == "train")
            round_of(model, optimizer, loaders[phase], phase)


if __name__ == "__main__":
    main()
"""


def evaluated(root: Path, loop: str) -> list[int]:
    (root / "train.py").write_text(TRAIN.replace("LOOP", loop))
    found = map_repository(root, None, "python train.py").components["evaluation"]
    return [place.line for place in found.places] if found.status == "found" else []


@pytest.mark.parametrize(
    "loop",
    [
        'for phase in ["train", "valid"]',
        "for phase in phases",
        "for phase in loaders",
        'for phase, weight in [("train", 1.0), ("val", 0.0)]',
        'for phase in ["train", "test"] if epoch else ["train"]',
    ],
)
def test_a_loop_over_phases_evaluates(tmp_path: Path, loop: str) -> None:
    lines = evaluated(tmp_path, loop)
    assert {23, 24} <= set(lines), lines


@pytest.mark.parametrize("loop", ['for phase in ["train", "train"]', 'for phase in ["warmup", "train"]'])
def test_phases_that_all_train_do_not(tmp_path: Path, loop: str) -> None:
    assert not evaluated(tmp_path, loop)


def test_a_loop_that_only_reads_data_does_not(tmp_path: Path) -> None:
    text = TRAIN.replace("LOOP", 'for phase in ["train"]').replace(
        "for epoch", 'for split in ["train", "valid"]:\n        loaders[split] = list(loaders[split])\n    for epoch'
    )
    (tmp_path / "train.py").write_text(text)
    assert map_repository(tmp_path, None, "python train.py").components["evaluation"].status != "found"
