"""Inputs and labels that are padded on opposite sides are told, also where only some rows are; the same side, and none, are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing

pytest.importorskip("torch")

PROGRAM = """
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Embedding(30, 16), nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 30))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)


def padded(rows, sides, fill=0):
    empty = torch.full((len(rows), 14), fill)
    for place, (row, is_left) in enumerate(zip(rows, sides)):
        if is_left:
            empty[place, 14 - len(row) :] = row
        else:
            empty[place, : len(row)] = row
    return empty


for step in range(12):
    rows = [torch.randint(1, 30, (int(length),)) for length in torch.randint(4, 12, (8,))]
    left, right, drawn = [True] * 8, [False] * 8, (torch.rand(8) < 0.5).tolist()
    tokens, labels = BATCH
    scores = net(tokens)
    loss = F.cross_entropy(scores.flatten(0, 1), labels.flatten(), ignore_index=IGNORED)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("batch", "ignored", "count"),
    [
        ("padded(rows, left), padded(rows, right)", 0, 1),
        ("padded(rows, drawn), padded(rows, left)", 0, 1),
        ("padded(rows, left), padded([row % 3 for row in rows], right, -100)", -100, 1),
        ("padded(rows, drawn), padded(rows, drawn)", 0, 0),
        ("padded(rows, right), padded([row % 3 for row in rows], right, -100)", -100, 0),
        ("padded(rows, right), padded([row % 2 for row in rows], right)", -100, 0),
        ("padded(rows, right)[:, :-1].contiguous(), padded(rows, right)[:, 1:].contiguous()", 0, 0),
        ("padded(rows, right), padded([row[-3:] for row in rows], right)", 0, 0),
    ],
    ids=["all", "some", "tags", "drawn for both", "tags on one side", "filled with a class", "next tokens", "answers"],
)
def test_only_opposite_sides(host: Host, tmp_path: Path, batch: str, ignored: int, count: int) -> None:
    program = PROGRAM.replace("BATCH", batch).replace("IGNORED", str(ignored))
    told = [
        one for one in failing(host, tmp_path, program, "loss_contract", 12) if "filled up on one side" in one.message
    ]
    assert [(one.severity, one.line) for one in told] == [("warning", 26)] * count, told
