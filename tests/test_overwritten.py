"""A loss that each turn of a loop overwrites is told; what is read, kept, summed or left early is not."""

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

torch.manual_seed(0)
cell, head = nn.GRUCell(4, 8), nn.Linear(8, 3)
optimizer = torch.optim.Adam([*cell.parameters(), *head.parameters()], lr=0.01)
criterion = nn.MSELoss()


def by_hand(out, target):
    return -(-(out - target) ** 2).mean()


def outputs(x):
    hidden = x.new_zeros(16, 8)
    for t in range(6):
        hidden = cell(x[t], hidden)
        yield head(hidden), x[t, :, :3]


for step in range(20):
    x, total, kept = torch.randn(6, 16, 4), 0.0, []
    STEP
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
LOOP = "for t, (out, target) in enumerate(outputs(x)):\n        "
FAULTS = {
    "of torch": (LOOP + "loss = criterion(out, target)", "computes 6 losses"),
    "by hand": (LOOP + "loss = by_hand(out, target)", "by way of "),
    "divided": (LOOP + "loss = criterion(out, target) / 6", "computes 6 losses"),
    "beside a penalty": (LOOP + "loss = by_hand(out, target)\n    loss = loss + 0.01 * head.weight.square().sum()", "computes 6"),
}  # fmt: skip


def said(host: Host, folder: Path, step: str) -> list[Finding]:
    program = folder / "unrolled.py"
    program.write_text(PROGRAM.replace("STEP", step))
    trace, ended = host.run(program, folder, dict(probes.EXPERIMENTS["observe"]))
    assert ended["code"] == 0 and not trace.hooks_missing, (ended["output"], trace.hooks_missing)
    told = [one for one in probes.judge("observe", trace, frozenset({"loss_contract"})) if one.outcome == "fail"]
    return [one for one in told if "only the last" in one.message]


@pytest.mark.parametrize(("step", "words"), one_in(3, FAULTS.values()), ids=FAULTS)
def test_a_loss_that_is_overwritten_is_told(host: Host, tmp_path: Path, step: str, words: str) -> None:
    (told,) = said(host, tmp_path, step)
    assert told.severity == "warning" and words in told.message, told
    assert "loss = " in (tmp_path / "unrolled.py").read_text().splitlines()[(told.line or 0) - 1], told


SUMMED = LOOP + "loss = criterion(out, target)\n        total = total + loss\n    loss = total"
VALIDATED = (
    "for _ in range(3):\n        held = criterion(head(cell(x[0])), x[0, :, :3])\n        total += held.item()\n    "
)
HEALTHY = {
    "summed": SUMMED,
    "summed in place": LOOP + "total += criterion(out, target)\n    loss = total",
    "kept in a list": LOOP + "kept.append(criterion(out, target))\n    loss = sum(kept)",
    "kept, and the last chosen": LOOP + "kept.append(criterion(out, target))\n    loss = kept[-1]",
    "chosen out of a comprehension": "loss = [by_hand(out, target) for out, target in outputs(x)][-1]",
    "the best of several": LOOP + "kept.append(by_hand(out, target))\n    loss = torch.stack(kept).min()",
    "logged": LOOP + "loss = criterion(out, target)\n        total += loss.item()",
    "logged with detach": LOOP + "loss = by_hand(out, target)\n        kept.append(loss.detach())",
    "logged by data": LOOP + "loss = by_hand(out, target)\n        kept.append(loss.data)",
    "printed": LOOP + "loss = by_hand(out, target)\n        print(f'{loss:.3f}')",
    "left early": LOOP + "loss = criterion(out, target)\n        if loss < 1e-6:\n            break",
    "many to one": LOOP + "pass\n    loss = criterion(out, target)",
    "the best seen": LOOP + "loss = by_hand(out, target)\n        kept = min([*kept, loss]),",
    "a backward for each": LOOP + "loss = criterion(out, target)\n        if t < 5:\n            loss.backward(retain_graph=True)",
    "gradients by hand in between": (
        LOOP + "loss = criterion(out, target)\n        if t < 5:\n            torch.autograd.grad(loss, head.bias, retain_graph=True)"
    ),
    "evaluated with gradients first": VALIDATED + "loss = criterion(head(cell(x[0])), x[0, :, :3])",
    "weights for what follows": LOOP + "loss = by_hand(out, target)\n        kept.append(out * loss)",
    "two losses": "loss = criterion(head(cell(x[0])), x[0, :, :3])\n    loss = criterion(head(cell(x[1])), x[1, :, :3])",
}  # fmt: skip


@pytest.mark.parametrize("step", one_in(3, HEALTHY.values()), ids=HEALTHY)
def test_what_is_used_or_meant_is_not_told(host: Host, tmp_path: Path, step: str) -> None:
    assert not said(host, tmp_path, step)
