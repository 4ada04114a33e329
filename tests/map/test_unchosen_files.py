"""Code of an arm that the settings do not choose stays off the sheet of a run, and so does what only it imports."""

from __future__ import annotations

from pathlib import Path

import map_depth
import pytest
from trainsleuth.map import expand_component

WORKER = """import torch
{imports}

class Worker:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.{optimizer}(model.parameters(), lr=0.1)

    def step(self, batch):
        loss = torch.nn.functional.mse_loss(self.model(batch), batch)
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.{clip}(self.model.parameters(), 1.0)
        self.optimizer.step()


def make(model):
    return Worker(model)
"""
RATES = """import torch


def decayed(optimizer):
    return torch.optim.lr_scheduler.StepLR(optimizer, 10)
"""
TRAIN = """import argparse

import torch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", default="plain")
    args = parser.parse_args()
    model = torch.nn.Linear(2, 2)
    if args.backend == "plain":
        from plain.worker import make
    elif args.backend == "sharded":
        from sharded.worker import make
    else:
        raise ValueError(args.backend)
    worker = make(model)
    for _ in range(10):
        worker.step(torch.randn(4, 2))


if __name__ == "__main__":
    main()
"""


def sheet(root: Path, command: str, **more: str) -> str:
    files = {
        "train.py": TRAIN,
        "plain/worker.py": WORKER.format(imports="", optimizer="SGD", clip="clip_grad_value_"),
        "sharded/worker.py": WORKER.format(
            imports="from .rates import decayed\n", optimizer="AdamW", clip="clip_grad_norm_"
        ).replace("lr=0.1)", "lr=0.1)\n        self.scheduler = decayed(self.optimizer)"),
        "sharded/rates.py": RATES,
    }
    map_depth.write(files | more, root)
    return expand_component(root, "run", recipe=command, budget=3000).text


@pytest.mark.parametrize(("backend", "other"), [("plain", "sharded"), ("sharded", "plain")])
def test_only_the_chosen_file_runs(tmp_path: Path, backend: str, other: str) -> None:
    text = sheet(tmp_path, f"python train.py --backend {backend}")
    assert ("AdamW" in text, "SGD" in text) == (backend == "sharded", backend == "plain")
    assert ("StepLR" in text) is (backend == "sharded")
    assert f"{other}/worker.py" not in text


def test_what_another_file_imports_too_may_run(tmp_path: Path) -> None:
    train = TRAIN.replace("import torch\n", "import torch\n\nfrom sharded.rates import decayed\n", 1)
    train = train.replace("    for _ in", "    decayed(worker.optimizer)\n    for _ in")
    assert "StepLR" in sheet(tmp_path, "python train.py --backend plain", **{"train.py": train})


def test_a_setting_that_is_not_known_leaves_both(tmp_path: Path) -> None:
    train = TRAIN.replace("args.backend ==", "pick() ==").replace(
        "def main", "def pick():\n    return input()\n\n\ndef main"
    )
    text = sheet(tmp_path, "python train.py", **{"train.py": train})
    assert "SGD" in text
    assert "AdamW" in text
