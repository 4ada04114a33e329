"""Labels of padding that count in the loss are told, whatever the layout; what leaves them out, or is no padding, is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, first_ones, with_edits

pytest.importorskip("torch")

from trainsleuth import probes
from trainsleuth.finding import Finding

OBSERVE = dict(probes.EXPERIMENTS["observe"])

PROGRAM = """import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

rng = torch.Generator().manual_seed(0)
torch.manual_seed(0)
WORDS, TAGS = 40, 40


def texts(count=12):
    lengths = torch.randint(5, 20, (count,), generator=rng).tolist()
    return [torch.randint(2, WORDS, (n,), generator=rng) for n in lengths]


def batch():
    found = texts()
    return pad_sequence(found, batch_first=True), pad_sequence([words % 7 for words in found], batch_first=True)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.layers, self.head = nn.Embedding(WORDS, 16), nn.GRU(16, 16, batch_first=True), nn.Linear(16, TAGS)

    def forward(self, words, mask=None):
        return self.head(self.layers(self.embed(words))[0])


model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(8):
    x, y = batch()
    loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
BATCH = PROGRAM[PROGRAM.index("    found = texts()") : PROGRAM.index("\n\nclass Tagger")]
LOSS = "    loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())\n"
NEXT_TOKEN = "    found = pad_sequence(texts(), batch_first=True)\n    return found[:, :-1], found[:, 1:]\n"
ENDED = (
    "    found = pad_sequence([torch.cat([words, words.new_tensor([1])]) for words in texts()], batch_first=True, padding_value=1)\n"
    "    return found[:, :-1], found[:, 1:]\n"
)
LEFT = (
    "    found = [words.flip(0) for words in texts()]\n    found = pad_sequence(found, batch_first=True).flip(1)\n"
    "    return found[:, :-1], found[:, 1:]\n"
)
FRAMES = (
    "    found = [torch.randn(n, 16, generator=rng) for n in torch.randint(5, 20, (12,), generator=rng).tolist()]\n"
    "    return pad_sequence(found, batch_first=True), pad_sequence([(one[:, 0] > 0).long() + 1 for one in found], batch_first=True)\n"
)
OF_FRAMES = ("self.layers(self.embed(words))", "self.layers(words)")
TRANSLATION = (
    (BATCH, "    return pad_sequence(texts(), batch_first=True), pad_sequence(texts(), batch_first=True)\n"),
    ("def forward(self, words, mask=None):\n        return self.head(self.layers(self.embed(words))[0])",
     "def forward(self, source, words):\n        state = self.layers(self.embed(source))[1]\n        return self.head(self.layers(self.embed(words), state)[0])"),
)  # fmt: skip

Edits = tuple[tuple[str, str], ...]
COUNTED: dict[str, Edits] = {
    "tags": (),
    "next tokens": ((BATCH, NEXT_TOKEN),),
    "next tokens, padded before": ((BATCH, LEFT),),
    "next tokens, sliced after the model": (
        (BATCH, "    found = pad_sequence(texts(), batch_first=True)\n    return found, found[:, 1:]\n"),
        ("model(x).flatten(0, 1), y.flatten()", "model(x)[:, :-1].reshape(-1, TAGS), y.reshape(-1)"),
    ),
    "time first": (
        ("batch_first=True", "batch_first=False"),
        ("model(x).flatten(0, 1), y.flatten()", "model(x).view(-1, TAGS), y.view(-1)"),
    ),
    "classes on axis 1": (("model(x).flatten(0, 1), y.flatten()", "model(x).transpose(1, 2), y"),),
    "a target sentence": (
        *TRANSLATION,
        ("model(x).flatten(0, 1), y.flatten()", "model(x, y[:, :-1]).flatten(0, 1), y[:, 1:].flatten()"),
    ),
    "no reduction": ((LOSS, LOSS.replace("y.flatten())", 'y.flatten(), reduction="none").mean()')),),
    "another id is ignored": (("y.flatten())", "y.flatten(), ignore_index=-1)"),),
    "frames": ((BATCH, FRAMES), OF_FRAMES),
    "the end repeated": ((BATCH, ENDED),),
    "told by a mask": (("model(x)", "model(x, x == 0)"), ("randint(5, 20", "randint(14, 20"), ("words % 7", "words % 7 + 1"), ("range(8)", "range(12)")),
}  # fmt: skip
LEFT_OUT: dict[str, Edits] = {
    "ignore_index": (("y.flatten())", "y.flatten(), ignore_index=0)"), ("words % 7", "words % 7 + 1")),
    "labels of -100": (("[words % 7 for words in found], batch_first=True", "[words % 7 for words in found], batch_first=True, padding_value=-100"),),
    "a mask behind the loss": (
        (LOSS, LOSS.replace("y.flatten())", 'y.flatten(), reduction="none")') + "    loss = (loss * (x != 0).flatten()).sum() / (x != 0).sum()\n"),
    ),
    "real places picked from the loss": (
        (LOSS, LOSS.replace("y.flatten())", 'y.flatten(), reduction="none")') + "    loss = loss[(x != 0).flatten()].mean()\n"),
    ),
    "real places picked before it": (("model(x).flatten(0, 1), y.flatten()", "model(x)[x != 0], y[x != 0]"),),
    "a class that weighs nothing": (
        ("y.flatten())", "y.flatten(), weight=torch.ones(TAGS).index_fill(0, torch.tensor(0), 0.0))"), ("words % 7", "words % 7 + 1"),
    ),
    "only the first end counts": (
        (BATCH, ENDED.replace("found[:, 1:]", "found[:, 1:].masked_fill(found[:, :-1] == 1, -100)")),
    ),
    "masked words": (
        (BATCH, "    found = pad_sequence(texts(), batch_first=True)\n    hidden = (torch.rand(found.shape, generator=rng) < 0.3) & (found != 0)\n"
         "    return found.masked_fill(hidden, 1), found.masked_fill(~hidden, -100)\n"),
    ),
    "sentences of one length": (("randint(5, 20, (count,)", "randint(12, 13, (count,)"),),
    "numbers in order": (
        (BATCH, "    found = torch.randint(10, (12, 16), generator=rng).sort(1).values\n    return found[:, :-1], found[:, 1:]\n"),
    ),
    "a text cut into pieces": (
        (BATCH, "    found = torch.randint(3, (12, 25), generator=rng)\n    return found[:, :-1], found[:, 1:]\n"),
    ),
    "zeros that are content": (
        (BATCH, "    held = torch.stack([torch.cat([torch.randint(1, 9, (n,), generator=rng), torch.zeros(24 - n).long()]) for n in range(4, 12)])\n"
         "    return held, held.roll(12, 1)\n"),
    ),
    "a picture and its background": (
        (BATCH, "    held = torch.randint(1, 40, (12, 24), generator=rng)\n    held[:, :3] = held[:, -3:] = 0\n    held[0, -6:] = 0\n    return held, held.clamp(max=3)\n"),
    ),
    "a loss that is only looked at": (
        ("    optimizer.zero_grad()\n", "    F.cross_entropy(model(x).flatten(0, 1), y.flatten())\n    optimizer.zero_grad()\n"),
        ("model(x).flatten(0, 1), y.flatten())\n    F.", "model(x)[x != 0], y[x != 0])\n    F."),
    ),
}  # fmt: skip


def told(host: Host, folder: Path, edits: Edits) -> tuple[list[Finding], str]:
    text = with_edits(PROGRAM, edits)
    program = folder / "program.py"
    program.write_text(text)
    trace, ended = host.run(program, folder, OBSERVE)
    assert ended["code"] == 0 and not trace.hooks_missing, (ended["output"], trace.hooks_missing)
    found = probes.judge("observe", trace, frozenset({"loss_contract"}))
    return [one for one in found if "padding" in one.message], text


@pytest.mark.parametrize("name", first_ones(COUNTED))
def test_labels_of_padding_that_count_are_told(host: Host, tmp_path: Path, name: str) -> None:
    (said, *others), text = told(host, tmp_path, COUNTED[name])
    assert not others and said.severity == "warning" and "program.py:" in said.place, said
    assert said.line and "loss = F.cross_entropy(" in text.splitlines()[said.line - 1]


@pytest.mark.parametrize("name", first_ones(LEFT_OUT))
def test_what_is_left_out_or_no_padding_is_not(host: Host, tmp_path: Path, name: str) -> None:
    assert told(host, tmp_path, LEFT_OUT[name])[0] == []


NOTED: dict[str, Edits] = {
    "an autoencoder": (("[words % 7 for words in found]", "found"),),
    "few places": (("randint(5, 20, (count,)", "randint(18, 23, (count,)"),),
    "a class that weighs little": (
        ("y.flatten())", "y.flatten(), weight=torch.ones(TAGS).index_fill(0, torch.tensor(0), 0.1))"),
    ),
}


@pytest.mark.parametrize("name", NOTED)
def test_what_may_be_meant_or_is_little_is_a_note(host: Host, tmp_path: Path, name: str) -> None:
    (said,), _ = told(host, tmp_path, NOTED[name])
    assert said.severity == "note"


GIVEN = "        return F.cross_entropy(self.head(self.layers(self.embed(words), state)[0]).flatten(0, 1), labels.flatten())"
WITH_LABELS = (
    TRANSLATION[0],
    (TRANSLATION[1][0],
     "def forward(self, source, labels=None):\n"
     f"        words, state = F.pad(labels[:, :-1], (1, 0)), self.layers(self.embed(source))[1]\n{GIVEN}"),
    (LOSS, "    loss = model(x, labels=y)\n"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("more", "severity"),
    [((), "warning"), ((("model(x, labels=y)", "model(y, labels=y)"),), "note")],
    ids=["a translation", "an autoencoder"],
)
def test_labels_that_the_model_is_given_are_no_inputs(host: Host, tmp_path: Path, more: Edits, severity: str) -> None:
    text = with_edits(PROGRAM, (*WITH_LABELS, *more))
    (said,), _ = told(host, tmp_path, (*WITH_LABELS, *more))
    assert said.severity == severity and said.line and GIVEN.strip() in text.splitlines()[said.line - 1], said
