"""A first loss far above chance: a model that starts confidently wrong, or a single draw of two scores."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing

pytest.importorskip("torch")

from trainsleuth import probes

PROGRAM = """
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.mix = nn.Embedding(30, 64), nn.Linear(64, 64)
        self.head = nn.Linear(64, CLASSES)

    def forward(self, tokens):
        x = self.embed(tokens)
        first = x[:, PLACE] + 0.05 * self.mix(x).mean(1)
        return SCALED


model = Reader()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for _ in range(4):
    tokens = torch.randint(1, 30, (32, 12))
    tokens[:, 0] = 0  # the token that stands for the whole
    worst = model(tokens).argmin(1)  # of each row
    labels = LABELS
    loss = F.cross_entropy(model(tokens), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def written(labels: str, classes: str, place: str, scaled: str = "self.head(6 * first)") -> str:
    parts = {"LABELS": labels, "CLASSES": classes, "PLACE": place, "SCALED": scaled}
    text = PROGRAM
    for name, part in parts.items():
        text = text.replace(name, part)
    return text


@pytest.mark.parametrize(
    ("scaled", "severity"), [("self.head(6 * first)", "warning"), ("6 * F.linear(first, self.head.weight)", "note")]
)
def test_scores_that_are_spread_by_hand_are_asked_about(host: Host, tmp_path: Path, scaled: str, severity: str) -> None:
    text = written("torch.randint(20, (32,))", "20", "1", scaled)
    found = failing(host, tmp_path, text, "loss_contract", 4)
    assert [one.severity for one in found if "first loss" in one.message] == [severity]
    assert ("is it meant so large?" in found[0].message) is (severity == "note")


@pytest.mark.parametrize(
    ("classes", "place", "labels", "severity"),
    [
        ("2", "0", "worst", "note"),
        ("2", "1", "worst", "warning"),
        ("2", "1", "torch.full((32,), int(model(tokens).mean(0).argmin()))", "note"),
        ("20", "0", "torch.randint(20, (32,))", "warning"),
    ],
)
def test_rows_that_are_nearly_one_prove_little(
    host: Host, tmp_path: Path, classes: str, place: str, labels: str, severity: str
) -> None:
    program = tmp_path / "reader.py"
    program.write_text(written(labels, classes, place))
    trace, ended = host.run(program, tmp_path, dict(probes.EXPERIMENTS["observe"]))
    told = list(probes.judge("observe", trace, frozenset({"loss_contract"})))
    assert [one.severity for one in told if "first loss" in one.message] == [severity], (told, ended)
