"""Clipping with a limit of 0 is told; any other limit, and gradients that are zero by themselves, are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing

pytest.importorskip("torch")

PROGRAM = """
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(12):
    loss = FACTOR * (net(torch.randn(8, 4)) - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(PART.parameters(), max_norm=LIMIT)
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("limit", "factor", "part", "count"),
    [
        ("False", "1", "net", 1),
        ("0.0", "1", "net", 1),
        ("1.0", "1", "net", 0),
        ("True", "1", "net", 0),
        ("0.0", "0", "net", 0),
        ("0.0", "1", "net[0]", 0),
    ],
    ids=["False", "nothing", "one", "True", "no gradient", "one part is to stay"],
)
def test_only_a_limit_of_nothing(host: Host, tmp_path: Path, limit: str, factor: str, part: str, count: int) -> None:
    program = PROGRAM.replace("LIMIT", limit).replace("FACTOR", factor).replace("PART", part)
    told = [one for one in failing(host, tmp_path, program, "step_trace", 12) if "has the limit 0" in one.message]
    assert [(one.severity, one.line) for one in told] == [("error", 12)] * count, told


@pytest.mark.parametrize(
    ("limit", "optimizer", "count"),
    [("1e-5", "SGD", 1), ("1e-5", "Adam", 0), ("0.1", "SGD", 0), ("1000.0", "SGD", 0)],
)
def test_a_limit_that_leaves_next_to_nothing(
    host: Host, tmp_path: Path, limit: str, optimizer: str, count: int
) -> None:
    program = PROGRAM.replace("LIMIT", limit).replace("FACTOR", "1").replace("PART", "net").replace("Adam", optimizer)
    told = [one for one in failing(host, tmp_path, program, "step_trace", 12) if "of each gradient" in one.message]
    assert [(one.severity, one.line) for one in told] == [("warning", 12)] * count, told
