"""What stands under a key of a table that a function is handed decides there: parts["extra"], which is None in this run."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import write
from trainsleuth.map import expand_component

TRAIN = """import argparse

import torch


def build(hyper_params):
    net = torch.nn.Linear(2, 1)
    if hyper_params.kind == "PLAIN":
        extra = None
    else:
        extra = torch.nn.MSELoss()
    settings = {"net": net, "extra": extra}
    fit(settings)


def fit(settings):
    net = settings["net"]
    extra = settings["extra"]
    opt = torch.optim.SGD(net.parameters(), lr=0.1)

    def train(extra):
        for step in range(10):
            out = net(torch.ones(1, 2))
            loss = out.sum()
            if extra is not None:
                loss = loss + extra(out, torch.zeros(1, 1))
            opt.zero_grad()
            loss.backward()
            opt.step()

    train(extra)


parser = argparse.ArgumentParser()
parser.add_argument("--kind", default="plain")
parser.add_argument("--quick", action="store_true")
parser.add_argument("--rows", type=int, default=4)
args = parser.parse_args()
if torch.cuda.is_available():
    args.rows = 16
hyper_params = args
hyper_params.kind = str.upper(args.kind.strip())
print(args.rows, args.quick)
build(hyper_params)
"""


@pytest.mark.parametrize(("given", "runs"), [("plain", False), ("other", True)])
def test_a_name_in_the_table_decides(tmp_path: Path, given: str, runs: bool) -> None:
    sheet = expand_component(write({"train.py": TRAIN}, tmp_path), "run", recipe=f"python train.py --kind {given}").text
    assert ("MSELoss()" in sheet, "loss = loss + extra" in sheet) == (runs, runs)
    assert f"kind={given.upper()}" in sheet


def test_a_table_that_gets_other_entries_decides_nothing(tmp_path: Path) -> None:
    text = TRAIN.replace("    fit(settings)\n", '    settings["extra"] = torch.nn.L1Loss()\n    fit(settings)\n')
    sheet = expand_component(write({"train.py": text}, tmp_path), "run", recipe="python train.py").text
    assert "loss = loss + extra" in sheet


def test_a_default_that_code_may_change_is_told_with_it(tmp_path: Path) -> None:
    sheet = expand_component(write({"train.py": TRAIN}, tmp_path), "run", recipe="python train.py").text
    assert "rows=4 :37 (may become 16 :40)" in sheet
