"""A model that takes numbers and their targets, and gives scores beside its loss: that targets move the loss alone is no fault."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing, with_edits

pytest.importorskip("torch")

PROGRAM = """
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.head = nn.Embedding(20, 16), nn.Linear(16, 20)

    def forward(self, idx, targets=None):
        logits = self.head(self.wte(idx))
        return logits, F.cross_entropy(logits.view(-1, 20), targets.reshape(-1))


model = GPT()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(30):
    words = torch.randint(20, (8, 12))
    logits, loss = model(words[:, :-1], words[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
UNREAD = (
    ("idx, targets=None", "user_ids, item_ids, targets"),
    ("self.wte(idx)", "self.wte(user_ids)"),
    ("words[:, :-1], words[:, 1:]", "words[:, :-1], torch.randint(20, (8, 11)), words[:, 1:]"),
)


@pytest.mark.parametrize(("edits", "count"), [((), 0), (UNREAD, 1)], ids=["targets", "items that nothing reads"])
def test_only_what_is_no_label_must_move_the_scores(
    host: Host, tmp_path: Path, edits: tuple[tuple[str, str], ...], count: int
) -> None:
    found = failing(host, tmp_path, with_edits(PROGRAM, edits), "input_matters", 40)
    assert len(found) == count and all("item_ids" in one.message for one in found), found
