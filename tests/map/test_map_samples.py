"""Samples that a program draws while it trains are how it is evaluated where nothing else is."""

from __future__ import annotations

from pathlib import Path

import map_depth
import pytest
from trainsleuth.map import map_repository

TRAIN = """import torch
from drawing import SoundPipeline

net = torch.nn.Linear(2, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(10):
    loss = net(torch.ones(1, 2)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
pipeline = MADE
pictures = pipeline(batch_size=4)
"""
DRAWING = """class SoundPipeline:
    def __init__(self, net):
        self.net = net

    def __call__(self, batch_size):
        return [self.net] * batch_size
"""


@pytest.mark.parametrize(
    ("made", "is_found"), [("SoundPipeline(net)", True), ("SoundPipeline.of(net)", True), ("read(net)", False)]
)
def test_what_a_pipeline_draws_is_evaluation(tmp_path: Path, made: str, is_found: bool) -> None:
    map_depth.write({"train.py": TRAIN.replace("MADE", made), "drawing.py": DRAWING}, tmp_path)
    part = map_repository(tmp_path).to_dict()["components"]["evaluation"]
    places = {(place["path"], place["line"]) for place in part["places"]}
    assert ({("train.py", 12), ("drawing.py", 5)} <= places) is is_found
