"""A file of settings that a part of the program reads for itself, and what it takes of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import STEP, write
from trainsleuth.map import expand_component

LOADER = """import os

import json
import torch
import yaml


def load_encoder(folder):
    path = os.path.join(folder, "config.yml")
    {reads}
    return torch.nn.Linear({width}, 1)
"""
FILES = {
    "train.py": "import torch\nimport yaml\n\nfrom parts.encoder.util import load_encoder\n\n"
    "config = yaml.safe_load(open('settings.yml'))\nnet = load_encoder('parts/encoder')\n"
    f"opt = torch.optim.SGD(net.parameters(), lr=config['lr'])\n{STEP}",
    "settings.yml": "lr: 0.5\nbatch_size: 16\nunused: 3\n",
    "parts/__init__.py": "",
    "parts/encoder/__init__.py": "",
    "parts/encoder/config.yml": "batch_size: 192\nnum_steps: 1000000\nmixed_precision: fp16\n"
    "model_params:\n  width: 2\n  lr: 0.25\n",
}
OPENED = "with open(path) as file:\n        content = yaml.safe_load(file)"


@pytest.mark.parametrize(
    ("reads", "width"),
    [
        ("content = yaml.safe_load(open(path))", "content['model_params']['width']"),
        (OPENED, "**content['model_params']"),
        (OPENED, "content.get('model_params')['width']"),
    ],
)
def test_only_the_section_that_is_taken_is_of_the_run(tmp_path: Path, reads: str, width: str) -> None:
    write({**FILES, "parts/encoder/util.py": LOADER.format(reads=reads, width=width)}, tmp_path)
    sheet, keys = (expand_component(tmp_path, part, budget=2000).text for part in ("run", "config"))
    assert "1000000" not in sheet + keys and "fp16" not in sheet + keys and "192" not in sheet + keys
    assert "lr=0.5" in sheet and "width = 2" in keys and "unused = 3" in keys, sheet + keys


@pytest.mark.parametrize(
    "width", ["**content", "content['model_params']['width'], Munch(content).num_steps", "pick(content)"]
)
def test_all_of_a_file_that_is_handed_on_is_of_the_run(tmp_path: Path, width: str) -> None:
    reads = "content = yaml.safe_load(open(path))"
    write({**FILES, "parts/encoder/util.py": LOADER.format(reads=reads, width=width)}, tmp_path)
    assert "num_steps = 1000000" in expand_component(tmp_path, "config", budget=2000).text
