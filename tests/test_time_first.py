"""Sequences that enter a model with time first are told apart by example, not by place."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host

pytest.importorskip("torch")

from trainsleuth import probes

PROGRAM = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
words = torch.randint(20, (200, 24))
words[:, :4] = torch.arange(4)  # how each begins
LEAK
labels = words[:, 8] % 3
train, test = (DataLoader(TensorDataset(words[part], labels[part]), 8, shuffle=True) for part in (slice(160), slice(160, 200)))


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.memory, self.head = nn.Embedding(20, 16), nn.GRU(16, 16), nn.Linear(16, 3)

    def forward(self, tokens):  # [time, examples]
        return self.head(self.memory(self.embed(tokens))[0].mean(0))


net = Reader()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(2):
    net.train()
    for x, y in train:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x.t()), y).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        right = sum(int((net(x.t()).argmax(1) == y).sum()) for x, y in test)
"""


@pytest.mark.parametrize(("leak", "words"), [("", ""), ("words[160:176] = words[:16]", "16 of 40 evaluation examples")])
def test_examples_are_counted_along_the_second_axis(host: Host, tmp_path: Path, leak: str, words: str) -> None:
    program = tmp_path / "reader.py"
    program.write_text(PROGRAM.replace("LEAK", leak))
    trace, ended = host.run(program, tmp_path, dict(probes.EXPERIMENTS["observe"]))
    assert ended["code"] == 0 and not trace.hooks_missing, ended["output"]
    told = [
        one.message for one in probes.judge("observe", trace, frozenset({"batch_as_seen"})) if one.outcome == "fail"
    ]
    assert (len(told) == 1 and words in told[0]) if words else not told, told
