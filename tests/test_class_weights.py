"""Weights of classes that are counts are told; their inverse, and what only one class shows, are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing, with_edits

pytest.importorskip("torch")

CLASSES = """
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
labels = torch.multinomial(torch.tensor([.6, .25, .1, .05]), 400, replacement=True)
inputs = torch.randn(400, 4) + 2 * F.one_hot(labels, 4)
counts = torch.bincount(labels, minlength=4).float()
weights = counts / counts.sum()
model = nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)
for step in range(40):
    taken = torch.randint(400, (32,))
    loss = F.cross_entropy(model(inputs[taken]), labels[taken], weight=weights)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
BINARY = (
    ("[.6, .25, .1, .05]), 400", "[.9, .1]), 400"),
    ("weights = counts / counts.sum()", "weights = counts[1] / counts[0]"),
    ("minlength=4", "minlength=2"),
    ("nn.Linear(4, 4)", "nn.Linear(4, 1)"),
    ("F.cross_entropy(model(inputs[taken]), labels[taken], weight=weights)", "F.binary_cross_entropy_with_logits(model(inputs[taken])[:, 0], labels[taken].float(), pos_weight=weights)"),
)  # fmt: skip
EACH = (
    *BINARY[:4],
    ("F.cross_entropy(model(inputs[taken]), labels[taken], weight=weights)", "F.binary_cross_entropy(model(inputs[taken])[:, 0].sigmoid(), labels[taken].float(), weight=1 + (weights - 1) * labels[taken])"),
)  # fmt: skip
INVERSE = ("weights = counts / counts.sum()", "weights = counts.sum() / (4 * counts)")


def said(host: Host, folder: Path, *edits: tuple[str, str]) -> list[tuple[str, str]]:
    found = failing(host, folder, with_edits(CLASSES, edits), "loss_contract", 80)
    return [(one.severity, one.message) for one in found if "the weights of" in one.message]


@pytest.mark.parametrize("edits", [(), BINARY, EACH], ids=["classes", "pos_weight", "each element"])
def test_weights_that_are_counts(host: Host, tmp_path: Path, edits: tuple[tuple[str, str], ...]) -> None:
    ((severity, message),) = said(host, tmp_path, *edits)
    assert severity == "warning" and "in proportion to how often the classes come" in message


def test_weights_that_rise(host: Host, tmp_path: Path) -> None:
    ((severity, message),) = said(
        host, tmp_path, ("weights = counts / counts.sum()", "weights = torch.tensor([4., 3., 2.5, 2.])")
    )
    assert severity == "note" and message.endswith("Is the common class meant to count most?")


@pytest.mark.parametrize(
    "edits",
    [
        (INVERSE,),
        (("weights = counts / counts.sum()", "weights = torch.ones(4)"),),
        (("weights = counts / counts.sum()", "weights = torch.tensor([1., 4., 1., 1.])"),),
        (("[.6, .25, .1, .05]), 400", "[.25, .25, .25, .25]), 400"),),
        (*BINARY[:1], ("weights = counts / counts.sum()", "weights = counts[0] / counts[1]"), *BINARY[2:]),
        (*BINARY[:1], ("weights = counts / counts.sum()", "weights = counts[0] / counts[1]"), *BINARY[2:4], EACH[4]),
    ],
    ids=["inverse", "ones", "one class", "balanced", "pos_weight", "each element"],
)
def test_weights_that_are_right(host: Host, tmp_path: Path, edits: tuple[tuple[str, str], ...]) -> None:
    assert not said(host, tmp_path, *edits)


DRAWN = (
    ("for step in range(40):\n    taken = torch.randint(400, (32,))\n", "data = torch.utils.data.TensorDataset(torch.arange(400))\ndrawn = torch.utils.data.WeightedRandomSampler(1 / counts.sqrt()[labels], 1280)\nfor (taken,) in torch.utils.data.DataLoader(data, 32, sampler=drawn):\n"),
    ("weights = counts / counts.sum()", "weights = counts.sqrt() / counts.sqrt().sum()"),
)  # fmt: skip


def test_weights_that_count_drawn_examples_back(host: Host, tmp_path: Path) -> None:
    """An evaluation over another loader comes last: by which loader a loss got its examples is what counts."""
    last = ("    optimizer.step()\n", "    optimizer.step()\nfor (taken,) in torch.utils.data.DataLoader(data, 100):\n    with torch.no_grad():\n        model(inputs[taken])\n")  # fmt: skip
    assert all(severity == "note" for severity, _ in said(host, tmp_path, *DRAWN, last))
