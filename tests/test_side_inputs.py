"""What comes beside the sequences and is not used: lengths may be meant for other models, other whole numbers are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host

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
        self.embed, self.gru = nn.Embedding(30, 16), nn.GRU(16, 16, batch_first=True)
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        tokens, _ = x
        y, _ = self.gru(self.embed(tokens))
        return self.head(y.amax(1))


model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for _ in range(20):
    tokens = torch.randint(1, 30, (16, 12))
    beside = torch.randint(1, MOST, (16,))
    loss = F.cross_entropy(model((tokens, beside)), tokens[:, 3] % 3)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("most", "outcome"), [("13", "pass"), ("500", "fail")])
def test_of_what_is_thrown_away_lengths_are_not_told(host: Host, tmp_path: Path, most: str, outcome: str) -> None:
    program = tmp_path / "reader.py"
    program.write_text(PROGRAM.replace("MOST", most))
    trace, ended = host.run(program, tmp_path, dict(probes.EXPERIMENTS["observe"]))
    (told,) = probes.judge("observe", trace, frozenset({"input_matters"}))
    assert told.outcome == outcome, (told, ended)
    assert outcome == "pass" or "exchanging 'x.1' alone" in told.message


def test_an_argument_keeps_its_name_behind_a_wrapper(host: Host, tmp_path: Path) -> None:
    program = tmp_path / "reader.py"
    program.write_text(PROGRAM.replace("MOST", "500").replace("model = Reader()", "model = nn.DataParallel(Reader())"))
    trace, _ = host.run(program, tmp_path, dict(probes.EXPERIMENTS["observe"]))
    (told,) = probes.judge("observe", trace, frozenset({"input_matters"}))
    assert "exchanging 'x.1' alone" in told.message
