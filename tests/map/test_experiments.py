"""Settings that calls add to a Sacred experiment, some under a name that the command says, and the parameters they fill."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import write
from trainsleuth.map import expand_component

TRAIN = """import sacred
import torch

from nets import WIDE

ex = sacred.Experiment("small")
ex.add_named_config("wide", net=WIDE)
ex.add_named_config("slow", kind="sgd", rate=0.01, steps=40)
ex.add_named_config("quick", steps=2)
ex.add_config(**ex.named_configs["slow"](), batch_size=16)
ex.add_config({"decay": 0.3})


@ex.main
def train(net, kind, rate, steps, decay, batch_size):
    model = torch.nn.Linear(net["width"], 1)
    if kind == "adam":
        optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    else:
        optimizer = torch.optim.SGD(model.parameters(), lr=rate, weight_decay=decay)
    for step in range(steps):
        optimizer.zero_grad()
        model(torch.ones(batch_size, net["width"])).sum().backward()
        optimizer.step()


if __name__ == "__main__":
    ex.run_commandline()
"""
FILES = {"train.py": TRAIN, "nets.py": "WIDE = {'width': 512, 'depth': 3}\n"}


@pytest.mark.parametrize(("said", "steps"), [("", 40), (" quick", 2), (" steps=7", 7)])
def test_what_is_added_is_set(tmp_path: Path, said: str, steps: int) -> None:
    command = f"python train.py with wide{said}"
    sheet = expand_component(write(FILES, tmp_path), "run", recipe=command).text
    assert "rate=0.01" in sheet and f"steps={steps}" in sheet and "batch_size=16" in sheet
    assert "decay=0.3" in sheet and "width=512 nets.py:1" in sheet
    assert "optim.SGD(" in sheet and "Adam" not in sheet


def test_a_name_that_the_command_does_not_say_adds_nothing(tmp_path: Path) -> None:
    sheet = expand_component(write(FILES, tmp_path), "run", recipe="python train.py with steps=3").text
    assert "512" not in sheet and "steps=3" in sheet
