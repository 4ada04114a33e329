"""What listeners hear of gradients and of graphs, where torch hands them something else than a tensor with a gradient."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host

pytest.importorskip("torch")

from trainsleuth import probes

OBSERVE = dict(probes.EXPERIMENTS["observe"])

# of two outputs made at once a backward takes one: torch calls the hook of the other with None
PART = """
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))

    def forward(self, x):
        return self.net(x).split(1, 1)


model = Field()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for _ in range(12):
    x = torch.randn(16, 4, requires_grad=True)
    first, second = model(x)
    (slope,) = torch.autograd.grad(second.sum(), x, create_graph=True)
    loss = F.mse_loss(slope, -x.detach()) + F.mse_loss(second, x.detach()[:, :1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

# the loss becomes NaN outside of modules in the first step, and its graph keeps the 2 as a tensor
NAN = """
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for _ in range(4):
    loss = (2 * model(torch.randn(16, 4))[:0]).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_an_output_that_gets_no_gradient_is_left_alone(host: Host, tmp_path: Path) -> None:
    program = tmp_path / "part.py"
    program.write_text(PART)
    trace, ended = host.run(program, tmp_path, OBSERVE)
    assert (ended["code"], trace.steps, trace.hooks_missing) == (0, 12, {}), ended


def test_a_number_in_the_graph_is_read_while_operations_are_watched(host: Host, tmp_path: Path) -> None:
    program = tmp_path / "nan.py"
    program.write_text(NAN)
    trace, ended = host.run(program, tmp_path, OBSERVE)
    assert trace.hooks_missing == {} and len(trace.events("nonfinite")) == 1, ended
