"""A schedule that is handed another and steps it is the one that sets the rate: it comes before the other."""

from __future__ import annotations

from pathlib import Path

from trainsleuth.map import expand_component

TRAIN = """import torch
from rates import WarmupSchedulerV2

net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
warmup = WarmupSchedulerV2(optimizer, multiplier=10, after=cosine)
for epoch in range(10):
    optimizer.zero_grad()
    net(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    warmup.step()
"""
RATES = """from warmup_scheduler import GradualWarmupScheduler


class WarmupSchedulerV2(GradualWarmupScheduler):
    def get_lr(self):
        return [rate * self.multiplier for rate in self.base_lrs]
"""


def test_the_outer_schedule_comes_first(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "rates.py").write_text(RATES)
    sheet = expand_component(tmp_path, "run", "train.py", "python train.py").text
    assert "WarmupSchedulerV2(optimizer, multiplier=10, after=cosine)" in sheet
    assert sheet.index("warmup = WarmupSchedulerV2(") < sheet.index("cosine = torch")
