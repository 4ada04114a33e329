"""Modules that the program calls by themselves, each with a part of the example: rows of a part repeat where examples do not."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, with_edits

pytest.importorskip("torch")

from trainsleuth import probes

PROGRAM = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.kinds, self.marks = nn.Embedding(20, 8), nn.Embedding(8, 8)
        self.numbers, self.head = nn.Linear(5, 8), nn.Linear(8, 2)

    def forward(self, kinds, marks, numbers):
        return self.head(torch.cat([kinds * marks, numbers[:, None]], 1).mean(1).relu())


def encoded(model, kinds, marks, numbers):
    return model.kinds(kinds + OFFSET), model.marks(marks + 2 * torch.arange(4)), model.numbers(numbers)


def examples(count):
    kinds, numbers = torch.randint(0, 5, (count, 4)), torch.randn(count, 5)
    return [kinds, torch.ones_like(kinds), numbers, (numbers[:, 0] + kinds[:, 0] > 2).long()]


OFFSET = 5 * torch.arange(4)
train, test = examples(1600), examples(340)
model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(2):
    model.train()
    for kinds, marks, numbers, y in DataLoader(TensorDataset(*train), 64, shuffle=True):
        loss = F.cross_entropy(model(*encoded(model, kinds, marks, numbers)), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    right = 0
    with torch.no_grad():
        for kinds, marks, numbers, y in DataLoader(TensorDataset(*test), 64):
            right += (model(*encoded(model, kinds, marks, numbers)).argmax(1) == y).sum().item()
"""

LEAK = ("model = Model()\n", "for one, other in zip(test, train):\n    one[:100] = other[:100]\nmodel = Model()\n")
ALIKE = ("    return [kinds, torch.ones_like(kinds), numbers,", "    numbers[:] = numbers[0]\n    return [kinds, torch.ones_like(kinds), numbers,")  # fmt: skip


@pytest.mark.parametrize(
    ("edits", "words"),
    [((), ""), ((LEAK,), "100 of 340 evaluation examples"), ((ALIKE,), "rows of 'input' are identical")],
)
def test_a_part_that_repeats_is_no_example_that_does(
    host: Host, tmp_path: Path, edits: tuple[tuple[str, str], ...], words: str
) -> None:
    program = tmp_path / "parts.py"
    program.write_text(with_edits(PROGRAM, edits))
    trace, ended = host.run(program, tmp_path, dict(probes.EXPERIMENTS["observe"]))
    told = list(probes.judge("observe", trace, frozenset({"batch_as_seen"})))
    said = [one.message for one in told if one.is_alarm]
    assert any(words in one for one in said) if words else not said, (said, ended)
