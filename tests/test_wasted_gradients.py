"""Accumulation that clears in each batch is told; gradients that are read by hand, or skipped, are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host
from twins import one_in

pytest.importorskip("torch")

from trainsleuth import probes
from trainsleuth.finding import Finding

PROGRAM = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data = TensorDataset(torch.randn(512, 8), torch.randn(512, 4))
loader = DataLoader(data, batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
criterion = nn.MSELoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
critic = nn.Linear(4, 1)
other = torch.optim.Adam(critic.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**120)
kept = []
for epoch in range(2):
    for i, (x, y) in enumerate(loader):
        LOOP
"""
BACKWARD = "optimizer.zero_grad()\n(criterion(model(x), y) / 2).backward()\n"
EACH_SECOND = "if i % 2:\n    optimizer.step()\n"
CLIPPED = "if i % 2:\n    nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n    optimizer.step()"
FAULTS = {
    "cleared before each backward": BACKWARD + EACH_SECOND,
    "and clipped": BACKWARD + CLIPPED,
    "by the model": BACKWARD.replace("optimizer.z", "model.z") + EACH_SECOND.replace("2", "4 == 3"),
}  # fmt: skip


def said(host: Host, folder: Path, loop: str) -> list[Finding]:
    program = folder / "accumulated.py"
    program.write_text(PROGRAM.replace("LOOP", loop.replace("\n", "\n        ")))
    trace, ended = host.run(program, folder, dict(probes.EXPERIMENTS["observe"]))
    assert ended["code"] == 0 and not trace.hooks_missing, (ended["output"], trace.hooks_missing)
    told = [one for one in probes.judge("observe", trace, frozenset({"step_trace"})) if one.outcome == "fail"]
    return [one for one in told if "before any step has used it" in one.message]


@pytest.mark.parametrize("loop", one_in(3, FAULTS.values()), ids=FAULTS)
def test_gradients_that_no_step_uses_are_told(host: Host, tmp_path: Path, loop: str) -> None:
    (told,) = said(host, tmp_path, loop)
    line = (tmp_path / "accumulated.py").read_text().splitlines()[(told.line or 0) - 1]
    assert told.severity == "warning" and "zero_grad()" in line, told


GRADIENTS = "[p.grad.clone() for p in model.parameters()]"
PERTURBED = BACKWARD + (
    "if i % 2 == 0:\n    kept = [0.05 * p.grad for p in model.parameters()]\n"
    "    for p, e in zip(model.parameters(), kept):\n        p.data.add_(e)\n"
    "else:\n    for p, e in zip(model.parameters(), kept):\n        p.data.sub_(e)\n    optimizer.step()"
)
JOINED = BACKWARD + (
    f"kept.append({GRADIENTS})\nif i % 2:\n    for p, a, b in zip(model.parameters(), *kept):\n        p.grad = a + b\n"
    "    optimizer.step()\n    kept = []"
)
IN_PLACE = JOINED.replace("p.grad = a + b", "p.grad.copy_(a + b)")
ATTACKED = (
    "x.requires_grad_()\nfor _ in range(3):\n    optimizer.zero_grad()\n    loss = criterion(model(x), y)\n    loss.backward()\n"
    "    x.data.add_(0.1 * x.grad.sign())\noptimizer.step()"
)
GAN = (
    "def learns(loss, mine):\n    mine.zero_grad()\n    loss.backward()\n    mine.step()\n\n"
    "learns(critic(model(x)).mean(), other)\nlearns(-critic(model(x)).mean(), optimizer)"
)
SCALED = (
    "optimizer.zero_grad()\nscaler.scale(criterion(model(x), y)).backward()\nscaler.step(optimizer)\n"
    "scaler.update(2.0**126 if i % 2 else 1.0)"
)
HEALTHY = {
    "each batch steps": BACKWARD + "optimizer.step()",
    "accumulated": BACKWARD.replace("optimizer.zero_grad()\n", "") + "if i % 2:\n    optimizer.step()\n    optimizer.zero_grad()",
    "sharpness": PERTURBED,
    "gradients joined": JOINED,
    "joined in place": IN_PLACE,
    "an attack on the inputs": ATTACKED,
    "two players": GAN,
    "steps skipped by a scaler": SCALED,
    "batches left out now and then": BACKWARD + "if i % 5:\n    optimizer.step()",
    "importance measured once": "if epoch == 0 and i == 20:\n    for a, b in loader:\n        model.zero_grad()\n"
    "        criterion(model(a), b).backward()\n" + BACKWARD + "optimizer.step()",
}  # fmt: skip


@pytest.mark.parametrize("loop", one_in(3, HEALTHY.values()), ids=HEALTHY)
def test_gradients_that_are_used_by_hand_are_not_told(host: Host, tmp_path: Path, loop: str) -> None:
    assert not said(host, tmp_path, loop)
