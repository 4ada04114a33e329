"""How far steps move the parameters is counted from the first step on, not from the birth of the optimizer."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host

pytest.importorskip("torch")

from trainsleuth import probes

PROGRAM = """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
with torch.no_grad():  # as a checkpoint does, or rank 0 of several
    for parameter in model.parameters():
        parameter.copy_(5 * torch.randn_like(parameter))
model.bias.requires_grad_(False)
for step in range(30):
    x = torch.randn(8, 8)
    loss = nn.functional.mse_loss(model(x), torch.ones(8, 1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_weights_that_are_loaded_behind_the_optimizer_are_the_start(host: Host, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    trace, ended = host.run(tmp_path / "train.py", tmp_path, {**probes.EXPERIMENTS["observe"], "seconds": 60})
    assert "Traceback" not in ended["output"], ended["output"]
    rows = {row[0]: row for row in trace.events("parameters")[-1]["rows"]}
    changed, ratio = 10, 11
    assert rows["weight"][changed] and 0 < rows["weight"][ratio] < 0.1
    assert not rows["bias"][changed]


def test_a_change_is_that_of_one_step(host: Host, tmp_path: Path) -> None:
    """The run ends 28 steps behind the last look."""
    still = (
        PROGRAM.replace("range(30)", "range(49)")
        .replace("torch.ones(8, 1)", "1e3 * x[:, :1]")
        .replace("lr=1e-4", "lr=1e-3")
    )
    (tmp_path / "train.py").write_text(still)
    trace, ended = host.run(tmp_path / "train.py", tmp_path, {**probes.EXPERIMENTS["observe"], "seconds": 60})
    assert "Traceback" not in ended["output"], ended["output"]
    tables = {table["n"]: {row[0]: row for row in table["rows"]} for table in trace.events("parameters")}
    assert max(tables) == 49 and tables[49]["weight"][11] == tables[30]["weight"][11]
