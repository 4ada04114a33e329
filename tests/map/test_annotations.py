"""What tells of the data, or of the container that a run is in, and is no setting of the run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from map_depth import STEP
from trainsleuth.map import expand_component
from trainsleuth.map.launching.command_words import words_behind

TRAIN = """import json

import torch

frames = json.load(open("clips.json"))
net = torch.nn.Linear(2, frames["a"]["num_frames"])
opt = torch.optim.SGD(net.parameters(), lr=frames["a"]["lr"])
"""


def _sheet(root: Path, told: object, command: str = "python train.py") -> str:
    (root / "clips.json").write_text(json.dumps(told))
    (root / "train.py").write_text(TRAIN + STEP)
    return expand_component(root, "run", recipe=command, budget=3000).text


def test_records_of_the_data_are_no_settings(tmp_path: Path) -> None:
    records = {name: {"num_frames": 7, "lr": 0.3} for name in "abcd"}
    assert "lr=0.3" not in _sheet(tmp_path, records)
    assert "lr=0.3" in _sheet(tmp_path, records, "python train.py clips.json")
    assert "lr=0.3" in _sheet(tmp_path, {**records, "b": {"num_frames": 7}})


@pytest.mark.parametrize(
    "command",
    [
        "docker-compose run --user=me -e DEVICES --rm main train with lr=0.1",
        "docker run -it -v data:/data --name job main train with lr=0.1",
    ],
)
def test_options_of_a_container_are_none_of_what_it_runs(command: str) -> None:
    assert words_behind(command) == ["train", "with", "lr=0.1"]
    assert words_behind("docker run --rm main python train.py --lr 0.1") == ["--lr", "0.1"]
