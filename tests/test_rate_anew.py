"""A learning rate that begins anew with each epoch is a note; schedules that count on, and restarts of torch, are not told."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host
from twins import one_in

pytest.importorskip("torch")

from trainsleuth import probes
from trainsleuth.finding import Finding

PROGRAM = """
import math
import torch
from torch import nn
from torch.optim import lr_scheduler
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
EPOCHS, BATCHES = 4, 8
data = TensorDataset(torch.randn(8 * BATCHES, 8))
model = nn.Linear(8, 4)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
loader = DataLoader(data, batch_size=8, shuffle=True)


def decayed(step, total):
    return 0.001 + 0.009 * (1 + math.cos(math.pi * step / total)) / 2


def set_rate(rate):
    for group in optimizer.param_groups:
        group["lr"] = rate


MADE
for epoch in range(EPOCHS):
    EPOCH
    for step, (x,) in enumerate(loader):
        STEP
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        AFTER
    with torch.no_grad():
        for (x,) in loader:
            model(x)
"""
ANEW = "set_rate(decayed(step, EPOCHS * BATCHES))"
TORCH = "schedule = lr_scheduler.{}"


def said(host: Host, folder: Path, parts: dict[str, str], **experiment: object) -> list[Finding]:
    text = PROGRAM
    for name in ("MADE", "EPOCH", "STEP", "AFTER"):
        text = text.replace(
            f"    {name}\n" if name != "MADE" else "MADE\n",
            f"    {parts.get(name, 'pass')}\n".removeprefix("    " * (name == "MADE")),
        )
    (folder / "rated.py").write_text(text)
    trace, ended = host.run(folder / "rated.py", folder, {**probes.EXPERIMENTS["observe"], **experiment})
    assert ended["code"] == 0 and not trace.hooks_missing, (ended["output"], trace.hooks_missing)
    return [one for one in probes.judge("observe", trace, frozenset({"learning_rate"})) if one.outcome == "fail"]


FAULTS = {
    "by hand": {"STEP": ANEW},
    "a loader for each epoch": {"EPOCH": "loader = DataLoader(data, batch_size=8)", "STEP": ANEW},
    "a schedule that is built for each epoch": {
        "EPOCH": "set_rate(0.01); " + TORCH.format("CosineAnnealingLR(optimizer, EPOCHS * BATCHES)"), "AFTER": "schedule.step()",
    },
    "a warm-up in each epoch": {"STEP": "set_rate(0.01 * min(1, (step + 1) / 4))"},
}  # fmt: skip


@pytest.mark.parametrize("parts", one_in(4, FAULTS.values()), ids=FAULTS)
def test_a_rate_that_begins_anew_is_a_note(host: Host, tmp_path: Path, parts: dict[str, str]) -> None:
    (told,) = said(host, tmp_path, parts)
    assert told.severity == "note" and "begins anew" in told.message and "at step 8 " in told.message and told.line, (
        told
    )


HEALTHY = {
    "counts over all epochs": {"STEP": "set_rate(decayed(epoch * BATCHES + step, EPOCHS * BATCHES))"},
    "constant": {},
    "set once in each epoch": {"EPOCH": "set_rate(0.01 * 0.5 ** epoch)"},
    "a warm-up in the first epoch": {"STEP": "set_rate(0.01 * (min(1, (step + 1) / 4) if epoch == 0 else 1))"},
    "cycles that come to their end": {"STEP": "set_rate(decayed(step, BATCHES - 1))"},
    "smaller with each epoch": {"STEP": "set_rate(0.7 ** epoch * decayed(step, EPOCHS * BATCHES))"},
    "warm restarts": {"MADE": TORCH.format("CosineAnnealingWarmRestarts(optimizer, BATCHES, eta_min=0.005)"), "AFTER": "schedule.step()"},
    "a cycle": {"MADE": TORCH.format("CyclicLR(optimizer, 0.004, 0.01, step_size_up=BATCHES // 2)"), "AFTER": "schedule.step()"},
    "one cosine": {"MADE": TORCH.format("CosineAnnealingLR(optimizer, EPOCHS * BATCHES)"), "AFTER": "schedule.step()"},
    "other data in each pass": {
        "EPOCH": "loader = DataLoader(TensorDataset(torch.randn(64, 8)), batch_size=8)", "STEP": ANEW,
    },
    "another optimizer in each": {"EPOCH": "optimizer = torch.optim.Adam(model.parameters(), lr=0.01)", "STEP": ANEW},
}  # fmt: skip


@pytest.mark.parametrize("parts", one_in(4, HEALTHY.values()), ids=HEALTHY)
def test_a_rate_that_goes_on_and_restarts_that_are_meant_are_not_told(
    host: Host, tmp_path: Path, parts: dict[str, str]
) -> None:
    assert not said(host, tmp_path, parts)


def test_epochs_that_were_cut_short_show_it_too(host: Host, tmp_path: Path) -> None:
    listeners = [*probes.EXPERIMENTS["observe"]["listeners"], "rehearsal"]
    long = {
        "MADE": "EPOCHS, BATCHES = 3, 200\ndata = TensorDataset(torch.randn(1600, 8))\nloader = DataLoader(data, batch_size=8)",
        "STEP": ANEW,
    }
    (told,) = said(host, tmp_path, long, listeners=listeners, whole_epoch=False)
    assert "at step 100 " in told.message and told.severity == "note", told
