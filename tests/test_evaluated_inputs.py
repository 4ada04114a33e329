"""What is evaluated is compared with what is trained on, however the program evaluates."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, with_edits
from twins import one_in

pytest.importorskip("torch")

from trainsleuth import probes
from trainsleuth.finding import Finding

PROGRAM = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
inputs = torch.randn(256, 8) + 3.0
labels = (inputs[:, 0] > 3).float()[:, None]
train = DataLoader(TensorDataset(inputs[:192], labels[:192]), 8, shuffle=True)
valid = DataLoader(
    TensorDataset(inputs[192:], labels[192:]), batch_size=8)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))


class Overlap(nn.Module):
    def forward(self, given, target):
        given = given.sigmoid()
        return 1 - 2 * (given * target).sum() / (given.sum() + target.sum() + 1) + nn.functional.binary_cross_entropy(given, target)


criterion = Overlap()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(4):
    model.train()
    for batch, target in train:
        optimizer.zero_grad()
        criterion(model(batch), target).backward()
        optimizer.step()
    model.eval()
    total = 0.0
    with torch.no_grad():
        for batch, target in valid:
            total += criterion(model(batch), target).item()
"""
OTHER = ("total += criterion(model(batch)", "total += criterion(model(batch * 255)")
SCALED = ("TensorDataset(inputs[192:]", "TensorDataset(inputs[192:] * 255")
ONE_BY_ONE = ("batch_size=8", "batch_size=1")
WITH_GRADIENTS = ("    with torch.no_grad():", "    if True:")
TRAINED_ON = ("TensorDataset(inputs[192:], labels[192:])", "TensorDataset(inputs[:64], labels[:64])")


def alarms(host: Host, folder: Path, edits: list[tuple[str, str]]) -> list[Finding]:
    program = folder / f"train{len(list(folder.iterdir()))}.py"
    program.write_text(with_edits(PROGRAM, edits))
    trace, ended = host.run(program, folder, {**probes.EXPERIMENTS["observe"], "seconds": 60})
    assert "Traceback" not in ended["output"], ended["output"]
    return [found for found in probes.judge("observe", trace, frozenset(["batch_as_seen"])) if found.is_alarm]


@pytest.mark.parametrize("ways", one_in(4, [[], [ONE_BY_ONE], [WITH_GRADIENTS], [ONE_BY_ONE, WITH_GRADIENTS]], first=3))
def test_healthy_evaluations_pass_and_others_do_not(ways: list[tuple[str, str]], host: Host, tmp_path: Path) -> None:
    assert not alarms(host, tmp_path, ways)
    (scaled,) = alarms(host, tmp_path, [SCALED, *ways])
    assert scaled.suspects == ("preprocessing-mismatch",) and "mean " in scaled.message, scaled.message
    leaked = alarms(host, tmp_path, [TRAINED_ON, *ways])
    assert leaked and all("split-leak" in found.suspects for found in leaked), leaked


@pytest.mark.twins
def test_what_is_scaled_on_its_way_into_the_model_is_seen_in_batches(host: Host, tmp_path: Path) -> None:
    (scaled,) = alarms(host, tmp_path, [OTHER])
    assert scaled.suspects == ("preprocessing-mismatch",)
