"""Where the rate is 0 at all steps that comes first, before what is seen of weights that nothing has moved."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host

pytest.importorskip("torch")

from trainsleuth import ledger, probes
from trainsleuth.finding import Finding
from trainsleuth.triage import cause_first

PROGRAM = """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 4))
nn.init.zeros_(model[4].weight)
optimizer = torch.optim.Adam([{"params": model[:4].parameters()}, {"params": model[4:].parameters(), "lr": LAST}], lr=0.01)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, [lambda step: min(step / 10, 1), lambda step: OTHER])
for step in range(40):
    inputs = torch.randn(16, 8)
    loss = (model(inputs) - inputs[:, :4]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    STEPS
"""


def told(host: Host, folder: Path, last: str, other: str, steps: str = "pass") -> list[Finding]:
    (folder / "warmed.py").write_text(PROGRAM.replace("LAST", last).replace("OTHER", other).replace("STEPS", steps))
    trace, ended = host.run(folder / "warmed.py", folder, dict(probes.EXPERIMENTS["observe"]))
    assert ended["code"] == 0, ended["output"]
    found = list(probes.judge("observe", trace))
    return cause_first(found, ledger.update(found))


def test_a_rate_of_zero_comes_before_what_follows_from_it(host: Host, tmp_path: Path) -> None:
    first, *others = told(host, tmp_path, "0.01", "min(step / 10, 1)")
    assert first.by == "probe:learning_rate" and "LambdaLR built at warmed.py:9 sets the rate" in first.message
    assert any("input-does-not-matter" in one.suspects for one in others if one.is_alarm), others


def test_where_another_rate_is_positive_the_order_is_that_of_the_causes(host: Host, tmp_path: Path) -> None:
    found = told(host, tmp_path, "0.0", "1", "schedule.step()")
    rates = [one for one in found if one.by == "probe:learning_rate"]
    assert {one.outcome for one in rates} == {"fail", "pass"}
    assert next(one.by for one in found if one.is_alarm) != "probe:learning_rate", found
