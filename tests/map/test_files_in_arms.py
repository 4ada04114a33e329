"""Files of settings that code reads in an arm which a parameter decides."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import write
from trainsleuth.map import expand_component

TRAIN = """import torch
import yaml


class Settings:
    def __init__(self, more=False):
        self.table = self.load(more)

    def load(self, more):
        names = ["base.yaml"]
        if more:
            names.append("more.yaml")
        table = {}
        for name in names:
            table.update(yaml.safe_load(open(name)))
        return table


def start(more=False):
    settings = Settings(more).table
    net = torch.nn.Linear(2, 1)
    opt = torch.optim.SGD(net.parameters(), lr=settings["rate"])
    for step in range(settings["steps"]):
        opt.zero_grad()
        net(torch.ones(1, 2)).sum().backward()
        opt.step()


if __name__ == "__main__":
    start()
"""
FILES = {"train.py": TRAIN, "base.yaml": 'rate: 0.3\nsteps: 10\nmark: "\\t"\n', "more.yaml": "steps: 700\nwidth: 5\n"}


@pytest.mark.parametrize(("call", "more"), [("start()", False), ("start(True)", True), ("start(input())", True)])
def test_a_file_in_an_arm_that_no_call_leads_to_is_not_read(tmp_path: Path, call: str, more: bool) -> None:
    files = FILES | {"train.py": TRAIN.replace("    start()", f"    {call}")}
    sheet = expand_component(write(files, tmp_path), "run", recipe="python train.py").text
    assert ("steps=700" in sheet, "steps=10 " in sheet) == (more, not more)
    assert "rate=0.3" in sheet and "mark='\\t'" in sheet
