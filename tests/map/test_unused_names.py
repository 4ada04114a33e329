"""A criterion that is made and never asked is no loss of the run."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import STEP, write
from trainsleuth.map import expand_component

TRAIN = (
    "import torch\n\nnet = torch.nn.Linear(2, 1)\ncriterion = torch.nn.MSELoss()\n"
    "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n" + STEP
)


@pytest.mark.parametrize(("more", "is_told"), [("", False), ("print(criterion(net(torch.ones(1, 2)), 0))\n", True)])
def test_a_criterion_that_nothing_asks_is_no_loss(tmp_path: Path, more: str, is_told: bool) -> None:
    root = write({"train.py": TRAIN + more}, tmp_path)
    assert ("MSELoss" in expand_component(root, "run", "train.py", "python train.py").text) is is_told
