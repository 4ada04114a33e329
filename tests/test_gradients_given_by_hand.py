"""A model that gets the gradients of its copies by hand learns; an optimizer over a model that was left behind does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing, with_edits

pytest.importorskip("torch")

PROGRAM = """
import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(30):
    x = torch.randn(16, 6)
    fast = copy.deepcopy(net)
    F.cross_entropy(fast(x), x[:, :3].argmax(1)).backward()
    with torch.no_grad():
        for p in fast.parameters():
            p -= 0.05 * p.grad
            p.grad = None
    F.cross_entropy(fast(x), x[:, :3].argmax(1)).backward()
    optimizer.zero_grad()
    for p, q in zip(net.parameters(), fast.parameters()):
        p.grad = q.grad
    optimizer.step()
"""
LEFT = """
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
for step in range(30):
    x = torch.randn(16, 6)
    loss = F.cross_entropy(net(x), x[:, :3].argmax(1))
    net.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("text", "count"), [(PROGRAM, 0), (LEFT, 1)], ids=["given by hand", "left behind"])
def test_only_a_model_left_behind_accuses(host: Host, tmp_path: Path, text: str, count: int) -> None:
    found = failing(host, tmp_path, with_edits(text, ()), "parameter_table", 40)
    assert len([one for one in found if "belong to no optimizer" in one.message]) == count, found
