"""Models that give back nothing but their loss: what the modules inside owe to batch mates, and which of their inputs matter."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing, with_edits

pytest.importorskip("torch")

TAGGER = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch.utils.data import DataLoader

torch.manual_seed(0)
LONGEST = 12


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(16, 16, batch_first=True)

    def forward(self, words, lengths):
        lengths, order = lengths.sort(descending=True)
        back = order.argsort()
        packed = pack_padded_sequence(words[order], lengths.tolist(), batch_first=True)
        y, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=LONGEST)
        return y[back]


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.encoder, self.head = nn.Embedding(30, 16), Encoder(), nn.Linear(16, 5)

    def forward(self, tokens, lengths, tags):
        scores = self.head(self.encoder(self.embed(tokens), lengths))
        return F.cross_entropy(scores.transpose(1, 2), tags, ignore_index=-1)


data = []
for _ in range(320):
    length = int(torch.randint(3, LONGEST + 1, ()))
    words = F.pad(torch.randint(1, 30, (length,)), (0, LONGEST - length))
    data.append((words, length, torch.where(words > 0, words % 5, -1)))
model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for tokens, lengths, tags in DataLoader(data, batch_size=14, shuffle=True, drop_last=True):
    loss = model(tokens, lengths, tags)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
DENOISER = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.time, self.inner, self.out = nn.Linear(1, 32), nn.Linear(8, 32), nn.Linear(32, 8)

    def forward(self, x, t):
        h = self.inner(x) + self.time(t[:, None].float() / 100)
        return self.out(torch.relu(h))


class Diffusion(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        t = torch.randint(0, 100, (len(x),))
        keep = 1 - t[:, None] / 100
        noise = torch.randn_like(x)
        return F.mse_loss(self.net(keep.sqrt() * x + (1 - keep).sqrt() * noise, t), noise)


model = Diffusion(Net())
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for (x,) in DataLoader(TensorDataset(torch.randn(320, 8)), batch_size=16, shuffle=True):
    loss = model(x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
OUT_OF_ORDER = ("return y[back]", "return y[order]")
OVER_EXAMPLES = ("return y[back]", "return y[back].softmax(0)")
HANDED_THE_ORDER = (
    (
        "words, lengths):\n        lengths, order = lengths.sort(descending=True)\n        back = order.argsort()",
        "words, lengths, back):",
    ),
    ("words[order]", "words"),
    ("        scores =", "        lengths, order = lengths.sort(descending=True)\n        scores ="),
    ("self.embed(tokens), lengths)", "self.embed(tokens)[order], lengths, order.argsort())"),
)
TIME_FIRST = (
    ("self.head(self.encoder(self.embed(tokens), lengths))", "self.head(self.mixer(self.embed(tokens).transpose(0, 1))[0].transpose(0, 1))"),
    ("self.embed, self.encoder,", "self.mixer, self.embed, self.encoder,"),
    ("= nn.Embedding", "= nn.LSTM(16, 16), nn.Embedding"),
)  # fmt: skip
TIME_FIRST_CLASSIFIER = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(6, 16), nn.Linear(16, 1)

    def forward(self, x, y):
        _, (h, _) = self.lstm(x)
        return F.mse_loss(self.head(h[-1]), y)


model = Classifier()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for x, y in DataLoader(TensorDataset(torch.randn(320, 10, 6), torch.randn(320, 1)), batch_size=32):
    loss = model(x.transpose(0, 1), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
BAGS = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.attend, self.head = nn.Linear(6, 16), nn.Linear(16, 1), nn.Linear(16, 1)

    def forward(self, bag):
        h = torch.relu(self.encoder(bag[0]))
        return self.head((self.attend(h).softmax(0) * h).sum(0))


model = Bag()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for bag, y in DataLoader(TensorDataset(torch.randn(40, 12, 6), torch.randint(2, (40,)).float()), batch_size=1):
    loss = F.binary_cross_entropy_with_logits(model(bag), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
SQUARE = ("batch_size=14", "batch_size=LONGEST")


def said(host: Host, folder: Path, text: str, probe: str, *edits: tuple[str, str]) -> list[str]:
    return [f"{one.severity}: {one.message}" for one in failing(host, folder, with_edits(text, edits), probe, 40)]


def test_rows_of_a_part_in_another_order(host: Host, tmp_path: Path) -> None:
    (message,) = said(host, tmp_path, TAGGER, "independence", OUT_OF_ORDER)
    assert message.startswith("warning: encoder (a Encoder) of Tagger called at program.py:")
    assert "gives rows back in another order than its examples" in message


def test_a_part_that_mixes_examples_is_a_question(host: Host, tmp_path: Path) -> None:
    (message,) = said(host, tmp_path, TAGGER, "independence", OVER_EXAMPLES)
    assert message.startswith("note: encoder (a Encoder) of Tagger called at program.py:")
    assert "mixes examples" in message


@pytest.mark.parametrize("edits", [(), HANDED_THE_ORDER, TIME_FIRST, (*TIME_FIRST, SQUARE)], ids=["sorted inside", "sorted outside", "time first", "time as long as the batch"])  # fmt: skip
def test_parts_that_keep_examples_apart(host: Host, tmp_path: Path, edits: tuple[tuple[str, str], ...]) -> None:
    assert not said(host, tmp_path, TAGGER, "independence", *edits)


@pytest.mark.parametrize("program", [TIME_FIRST_CLASSIFIER, BAGS], ids=["time first", "one bag at a time"])
def test_an_axis_that_is_no_batch(host: Host, tmp_path: Path, program: str) -> None:
    assert not said(host, tmp_path, program, "independence")


def test_an_argument_of_a_part_without_effect_is_a_question(host: Host, tmp_path: Path) -> None:
    unread = ("self.inner(x) + self.time(t[:, None].float() / 100)", "self.inner(x)")
    (message,) = said(host, tmp_path, DENOISER, "input_matters", unread)
    assert message.startswith("note: net (a Net) of Diffusion called at program.py:")
    assert "exchanging 't' alone among the 16 examples changes nothing" in message


def test_a_denoiser_that_reads_the_time(host: Host, tmp_path: Path) -> None:
    assert not said(host, tmp_path, DENOISER, "input_matters")
    assert not said(host, tmp_path, DENOISER, "independence")
