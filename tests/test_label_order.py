"""Rows that are made flat by one axis first, and labels by the other, are told; the same order is not, however it comes about."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing
from twins import one_in

pytest.importorskip("torch")

from trainsleuth.finding import Finding

PROGRAM = """
import torch
from torch import nn
from torch.utils.data import DataLoader

torch.manual_seed(0)
WORDS, TIMES = 11, 7


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.memory, self.score = nn.Embedding(WORDS, 8), nn.LSTM(8, 8), nn.Linear(8, WORDS)

    def forward(self, tokens):  # [examples, times] to [times, examples, words]
        return self.score(self.memory(self.embed(tokens.t()))[0])


tokens = torch.randint(WORDS, (60, TIMES + 1))
net = Tagger()
optimizer = torch.optim.Adam(net.parameters())
for batch in DataLoader(tokens, batch_size=5, shuffle=True):
    scores = net(batch[:, :-1])
    loss = LOSS
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
NEXT = "batch[:, 1:]"
FAULTS = {
    "times first and examples first": f"nn.functional.cross_entropy(scores.view(-1, WORDS), {NEXT}.reshape(-1))",
    "examples first and times first": f"nn.functional.cross_entropy(scores.transpose(0, 1).reshape(-1, WORDS), {NEXT}.t().reshape(-1))",
    "with padding left out": (
        f"nn.functional.cross_entropy(scores.reshape(-1, WORDS), {NEXT}.reshape(-1).masked_fill({NEXT}.reshape(-1) == 3, -100))"
    ),
    "log-probabilities": f"nn.functional.nll_loss(scores.view(-1, WORDS).log_softmax(1), {NEXT}.flatten())",
}
HEALTHY = {
    "both times first": f"nn.functional.cross_entropy(scores.view(-1, WORDS), {NEXT}.t().reshape(-1))",
    "both examples first": f"nn.functional.cross_entropy(scores.transpose(0, 1).reshape(-1, WORDS), {NEXT}.reshape(-1))",
    "not flat": f"nn.functional.cross_entropy(scores.permute(1, 2, 0), {NEXT})",
    "labels of one kind": f"nn.functional.cross_entropy(scores.view(-1, WORDS), {NEXT}.reshape(-1) * 0)",
    "one label for each example": f"nn.functional.cross_entropy(scores[-1], {NEXT}[:, -1])",
}


def said(host: Host, folder: Path, loss: str) -> list[Finding]:
    return failing(host, folder, PROGRAM.replace("LOSS", loss), "loss_contract", 12)


@pytest.mark.parametrize("name", one_in(3, FAULTS))
def test_labels_in_another_order_are_told_at_the_loss(host: Host, tmp_path: Path, name: str) -> None:
    (told,) = said(host, tmp_path, FAULTS[name])
    assert told.severity == "error" and "before they were made flat" in told.message, told
    assert PROGRAM.splitlines()[(told.line or 0) - 1].strip() == "loss = LOSS"


@pytest.mark.parametrize("name", one_in(3, HEALTHY))
def test_labels_in_the_same_order_are_not_told(host: Host, tmp_path: Path, name: str) -> None:
    assert said(host, tmp_path, HEALTHY[name]) == []
