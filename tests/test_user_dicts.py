"""A batch that is a table but no dict, as a tokenizer gives: its rows are exchanged like those of any other."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host

pytest.importorskip("torch")

from trainsleuth import probes

PROGRAM = """
from collections import UserDict

import torch
from torch import nn

torch.manual_seed(0)


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(20, 16), nn.Linear(16, 2)

    def forward(self, batch):
        h = self.embed(batch["input_ids"]).mean(1)
        return self.head(h MIXED)


net = Reader()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(30):
    ids = torch.randint(20, (16, 7))
    batch = UserDict(input_ids=ids, attention_mask=torch.ones_like(ids))
    loss = nn.functional.cross_entropy(net(batch), (ids[:, 0] > 9).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("mixed", "outcome"), [("", "pass"), ("- h.mean(0)", "fail")])
def test_rows_of_a_user_dict_are_exchanged(host: Host, tmp_path: Path, mixed: str, outcome: str) -> None:
    program = tmp_path / "reader.py"
    program.write_text(PROGRAM.replace("MIXED", mixed))
    trace, ended = host.run(program, tmp_path, dict(probes.EXPERIMENTS["observe"]))
    assert ended["code"] == 0 and not trace.hooks_missing, ended["output"]
    told = {one.by: one for one in probes.judge("observe", trace, frozenset({"independence", "input_matters"}))}
    assert told["probe:independence"].outcome == outcome, told
    assert told["probe:input_matters"].outcome == "pass", told
