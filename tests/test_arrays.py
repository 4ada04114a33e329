"""A model that is given arrays of numpy is called again as any other: next items must not be seen by those before them."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, with_edits

pytest.importorskip("torch")

from trainsleuth import probes

PROGRAM = """
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
drawn = np.random.default_rng(0)


class Recommender(nn.Module):
    def __init__(self):
        super().__init__()
        self.items = nn.Embedding(50, 16, padding_idx=0)
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)

    def forward(self, user_ids, log_seqs, pos_seqs, neg_seqs):
        x = self.items(torch.LongTensor(log_seqs))
        mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        x = x + self.attention(x, x, x, attn_mask=mask)[0]
        return tuple((x * self.items(torch.LongTensor(other))).sum(-1) for other in (pos_seqs, neg_seqs))


model = Recommender()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.BCEWithLogitsLoss()
for step in range(30):
    seqs = drawn.integers(1, 50, (16, 13))
    scores, others = model(np.arange(16), seqs[:, :-1], seqs[:, 1:], drawn.integers(1, 50, (16, 12)))
    loss = criterion(scores, torch.ones_like(scores)) + criterion(others, torch.zeros_like(others))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("edits", "found"), [([], ""), ([("attn_mask=mask", "attn_mask=None")], "sees the future")])
def test_what_comes_later_is_exchanged(edits: list[tuple[str, str]], found: str, host: Host, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(with_edits(PROGRAM, edits))
    trace, ended = host.run(tmp_path / "train.py", tmp_path, {**probes.EXPERIMENTS["observe"], "seconds": 60})
    assert "Traceback" not in ended["output"], ended["output"]
    asked = frozenset(["independence", "input_matters"])
    judged = list(probes.judge("observe", trace, asked))
    assert {one.by for one in judged if one.outcome == "pass"} >= ({"probe:independence"} if not found else set())
    alarms = [one.message for one in judged if one.is_alarm]
    assert len(alarms) == bool(found) and all(found in message for message in alarms), alarms
