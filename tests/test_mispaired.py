"""A loss that is the same for targets of other examples is a question; one that has learned anything of its pairs is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing
from twins import one_in

pytest.importorskip("torch")

PROGRAM = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(640, 6)
SHUFFLED
y = TARGETS
net = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=0.003)
for epoch in range(3):
    for inputs, targets in DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True):
        loss = LOSS
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        nn.functional.mse_loss(net(x), torch.randn(640, 3))
"""
LOSSES = {
    "classes": ("x[:, :3].argmax(1)", "nn.functional.cross_entropy(net(inputs), targets)"),
    "numbers": ("x[:, :3] * 2 + x[:, 3:]", "nn.functional.mse_loss(net(inputs), targets)"),
    "a sum": ("(x[:, :3] > 0).float()", "nn.functional.binary_cross_entropy_with_logits(net(inputs), targets, reduction='sum')"),
}  # fmt: skip
APART = "x, kept = x[torch.randperm(640)], x"
QUIET = {
    "targets that are all the same": ("torch.ones(640, 3)", "nn.functional.mse_loss(net(inputs), targets)"),
    "nothing to pair": ("x[:, :3]", "net(inputs).pow(2).mean()"),
    "an autoencoder that has not learned yet": ("x", "1e-6 * nn.functional.mse_loss(net(inputs), inputs[:, :3])"),
}


@pytest.mark.parametrize("name", one_in(2, LOSSES))
def test_targets_of_other_rows_are_asked_about(host: Host, tmp_path: Path, name: str) -> None:
    targets, loss = LOSSES[name]
    text = PROGRAM.replace("TARGETS", targets.replace("x[", "kept[")).replace("LOSS", loss).replace("SHUFFLED", APART)
    (told,) = failing(host, tmp_path, text, "loss_contract", 110)
    assert told.severity == "note" and "cannot tell the pairs apart" in told.message, told
    assert text.splitlines()[(told.line or 0) - 1].strip() == f"loss = {loss}"


@pytest.mark.parametrize("name", one_in(3, LOSSES | QUIET))
def test_pairs_that_were_learned_raise_no_question(host: Host, tmp_path: Path, name: str) -> None:
    targets, loss = (LOSSES | QUIET)[name]
    text = PROGRAM.replace("TARGETS", targets).replace("LOSS", loss).replace("SHUFFLED", "")
    told = failing(host, tmp_path, text, "loss_contract", 110)
    assert not [one for one in told if "the pairs" in one.message], told
