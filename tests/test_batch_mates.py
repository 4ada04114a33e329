"""What an output owes to its batch mates: noise and padding that follow their lengths, rows that come back in another order."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, first_ones, with_edits

pytest.importorskip("torch")

from trainsleuth import probes

SORTED = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch.utils.data import DataLoader

torch.manual_seed(0)
LONGEST = 12


class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 16)
        self.reader, self.writer = nn.GRU(16, 16, batch_first=True), nn.GRU(16, 16, batch_first=True)
        self.head = nn.Linear(16, 30)

    def forward(self, tokens, lengths):
        lengths, order = lengths.sort(descending=True)
        x = pack_padded_sequence(self.embed(tokens[order]), lengths.tolist(), batch_first=True)
        _, h = self.reader(x)
        z = h + NOISE * torch.randn(1, len(tokens), 16)
        y, _ = pad_packed_sequence(self.writer(x, z)[0], batch_first=True)
        y = y[order.argsort()]
        return self.head(y)


data = []
for _ in range(320):
    length = int(torch.randint(3, LONGEST + 1, ()))
    data.append((F.pad(torch.randint(1, 30, (length,)), (0, LONGEST - length)), length))
model = Coder()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for tokens, lengths in DataLoader(data, batch_size=14, shuffle=True, drop_last=True):
    logits = model(tokens, lengths)
    loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, : logits.shape[1]].flatten(), ignore_index=0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

UNSORTED = "        y = y[order.argsort()]\n"
RETURN = "        return self.head(y)\n"
SORTED_BEFORE = (
    ("lengths, order = lengths.sort(descending=True)", "order = torch.arange(len(lengths))"),
    (
        "    logits = model",
        "    lengths, order = lengths.sort(descending=True)\n    tokens = tokens[order]\n    logits = model",
    ),
    ("NOISE *", "0 *"),
)
# edits, outcome and severity of the finding about batch mates, a part of its message
CASES = {
    "no noise": ((("NOISE *", "0 *"),), "pass", None, "the same with other batch mates"),
    "noise in the order of lengths": ((), "open", None, "batch mates of the same lengths"),
    "sorted before they enter": (SORTED_BEFORE, "pass", None, "the same with other batch mates"),
    "sorted before they enter, and mixed": (
        (*SORTED_BEFORE, (RETURN, "        return self.head(y - y.mean(0))\n")), "fail", "warning", "mixes examples",
    ),
    "rows stay sorted": (((UNSORTED, ""),), "fail", "warning", "in another order"),
    "rows stay sorted, without noise": (((UNSORTED, ""), ("NOISE *", "0 *")), "fail", "warning", "in another order"),
    "rows stay sorted and the order is told": (
        ((UNSORTED, ""), (RETURN, "        return self.head(y), order\n"), ("logits = model", "logits, _ = model")),
        "open", None, "another order, and whole numbers",
    ),
    "one of two outputs stays sorted": (
        ((RETURN, "        return self.head(y), h[0]\n"), ("logits = model", "logits, _ = model")),
        "fail", "note", "1 of its 2 outputs come",
    ),
    "examples are mixed, with noise": (((RETURN, "        return self.head(y - y.mean(0))\n"),), "fail", "warning", "mixes examples"),
    "the first example enters all others": (
        ((RETURN, "        return self.head(y + y[:1])\n"), ("NOISE *", "0 *")), "fail", "warning", "mixes examples",
    ),
    "sums over all lengths": (
        ((RETURN, "        return self.head(y / lengths.sum())\n"), ("NOISE *", "0 *")), "fail", "warning", "mixes examples",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", first_ones(CASES))
def test_what_moves_with_the_mates(host: Host, tmp_path: Path, case: str) -> None:
    edits, outcome, severity, words = CASES[case]
    program = tmp_path / "sorted.py"
    program.write_text(with_edits(SORTED, edits).replace("NOISE", "0.5"))
    trace, ended = host.run(program, tmp_path, dict(probes.EXPERIMENTS["observe"]))
    judged = list(probes.judge("observe", trace, frozenset({"independence"})))
    told = [one for one in judged if "sees the future" not in one.message and "learns to copy" not in one.message]
    assert [(one.outcome, one.severity if one.outcome == "fail" else None) for one in told] == [(outcome, severity)], (
        judged,
        ended,
    )
    assert words in told[0].message, told
