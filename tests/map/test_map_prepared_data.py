"""What a data set keeps of its own preparation is no checkpoint of training."""

from __future__ import annotations

from pathlib import Path

import map_depth
import pytest
from trainsleuth.map import map_repository

TRAIN = """import torch
from rows import Rows

net = torch.nn.Linear(2, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for batch in torch.utils.data.DataLoader(Rows()):
    loss = net(batch).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
ROWS = """import torch


class Rows(BASE):
    def __init__(self):
        self.rows = torch.load("prepared.pt")

    def process(self):
        torch.save(self.rows, "prepared.pt")

    def __getitem__(self, place):
        return self.rows[place]

    def __len__(self):
        return len(self.rows)
"""


@pytest.mark.parametrize(
    ("base", "saved"), [("torch.utils.data.Dataset", ""), ("object", "torch.save(net.state_dict(), 'last.pt')\n")]
)
def test_rows_that_are_prepared_are_no_checkpoint(tmp_path: Path, base: str, saved: str) -> None:
    map_depth.write({"train.py": TRAIN + saved, "rows.py": ROWS.replace("BASE", base)}, tmp_path)
    part = map_repository(tmp_path).to_dict()["components"]["checkpointing"]
    assert part["status"] == ("found" if saved else "absent")
    assert not any(place["path"] == "rows.py" for place in part["places"] if not saved)
