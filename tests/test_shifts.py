"""Labels that enter the model, and the loss inside of it: copies, labels moved twice and a lost mask are told, however they are handed over."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, first_ones, with_edits
from twins import one_in

pytest.importorskip("torch")

from trainsleuth import probes
from trainsleuth.finding import Finding

OBSERVE = dict(probes.EXPERIMENTS["observe"])

PROGRAM = """import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader

torch.manual_seed(0)
WORDS = 30
texts = [torch.randint(2, WORDS, (n,)) for n in torch.randint(12, 20, (96,)).tolist()]


def collate(rows):
    width = max(map(len, rows))
    ids = torch.stack([F.pad(row, (0, width - len(row))) for row in rows])
    labels = ids.masked_fill(ids == 0, -100)
    return {"input_ids": ids, "attention_mask": (ids != 0).long(), "labels": labels}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.layers, self.head = nn.Embedding(WORDS, 16), nn.GRU(16, 16, batch_first=True), nn.Linear(16, WORDS)

    def forward(self, input_ids, attention_mask=None, labels=None):
        logits = self.head(self.layers(self.embed(input_ids))[0])
        loss = F.cross_entropy(logits[:, :-1].reshape(-1, WORDS), labels[:, 1:].reshape(-1))
        return {"loss": loss, "logits": logits}


model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for batch in DataLoader(texts, 12, collate_fn=collate):
    loss = model(**batch)["loss"]
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
Edit = tuple[str, str]
Edits = tuple[Edit, ...]

GIVEN = '"input_ids": ids, "attention_mask": (ids != 0).long(), "labels": labels'
LABELS_FIRST: Edit = (GIVEN, '"labels": labels, "attention_mask": (ids != 0).long(), "input_ids": ids')
MASK_FIRST: Edit = (GIVEN, '"attention_mask": (ids != 0).long(), "input_ids": ids, "labels": labels')
ONLY_LOSS: Edit = ('return {"loss": loss, "logits": logits}', 'return {"loss": loss}')
SLICED = "logits[:, :-1].reshape(-1, WORDS), labels[:, 1:].reshape(-1)"
UNMOVED: Edit = (SLICED, "logits.view(-1, WORDS), labels.view(-1)")
CUT: Edit = (SLICED, "logits[:, :-1].reshape(-1, WORDS), labels[:, :-1].reshape(-1)")
BY_CLASSES: Edit = (SLICED, "logits[:, :-1].transpose(1, 2), labels[:, 1:]")
LABELS = "labels = ids.masked_fill(ids == 0, -100)"
MOVED: Edit = (LABELS, "labels = F.pad(ids[:, 1:], (0, 1))\n    labels = labels.masked_fill(labels == 0, -100)")
NO_PROMPT: Edit = (LABELS, f"{LABELS}\n    labels[:, :6] = -100")
FEW_MASKED: Edit = (
    LABELS, "hidden = (torch.rand(ids.shape) < 0.04) & (ids != 0)\n    labels = ids.masked_fill(~hidden, -100)\n    ids = ids.masked_fill(hidden, 1)"
)  # fmt: skip
BOTH_WAYS: Edit = (
    "self.layers(self.embed(input_ids))[0]", "self.layers(self.embed(input_ids))[0] + self.embed(input_ids).flip(1).cumsum(1).flip(1)"
)  # fmt: skip
TWO_AHEAD: Edit = (
    '        return {"loss"',
    "        further = self.head(self.layers(self.embed(input_ids))[0] * 2)\n"
    "        loss = loss + F.cross_entropy(further[:, :-2].reshape(-1, WORDS), labels[:, 2:].reshape(-1))\n"
    '        return {"loss"',
)
REAL: Edit = (
    "model = Model()",
    "from transformers import GPT2Config, GPT2LMHeadModel\n\n"
    "model = GPT2LMHeadModel(GPT2Config(vocab_size=WORDS, n_positions=32, n_embd=16, n_layer=1, n_head=2))",
)
TIME_FIRST: Edits = (
    ('model(**batch)["loss"]', 'model(batch["input_ids"].t().contiguous(), labels=batch["labels"].t().contiguous())["loss"]'),
    (", batch_first=True", ""),
)  # fmt: skip
BACKWARDS: Edit = ("self.layers(self.embed(input_ids))[0]", "self.layers(self.embed(input_ids).flip(1))[0].flip(1)")
FLIPPED: Edit = ("self.layers(self.embed(input_ids))[0]", "self.layers(self.embed(input_ids).flip(0))[0].flip(0)")
STARTED: Edit = (
    "self.layers(self.embed(input_ids))[0]", "self.layers(torch.cat([torch.zeros(1, input_ids.shape[1], 16), self.embed(input_ids)[:-1]]))[0]"
)  # fmt: skip

FAULTS: dict[str, tuple[Edits, str]] = {
    "copies": ((UNMOVED,), "learns to copy"),
    "copies, without the last": ((CUT,), "learns to copy"),
    "copies, labels first": ((UNMOVED, LABELS_FIRST), "learns to copy"),
    "copies, a mask first": ((UNMOVED, MASK_FIRST), "learns to copy"),
    "copies, only a loss comes back": ((UNMOVED, ONLY_LOSS), "learns to copy"),
    "copies, time first": ((UNMOVED, *TIME_FIRST), "learns to copy"),
    "the past hidden": ((UNMOVED, BACKWARDS), "sees the future and not the past"),
    "the past hidden, time first": ((UNMOVED, *TIME_FIRST, FLIPPED), "sees the future and not the past"),
    "moved twice": ((MOVED,), "moves its labels twice"),
    "moved twice, only a loss comes back": ((MOVED, ONLY_LOSS), "moves its labels twice"),
    "no mask, labels first": ((BOTH_WAYS, LABELS_FIRST), "sees the future"),
    "no mask, only a loss comes back": ((BOTH_WAYS, ONLY_LOSS), "sees the future"),
    "no mask, only a loss of classes on axis 1": ((BOTH_WAYS, ONLY_LOSS, BY_CLASSES), "sees the future"),
    "no mask, labels without the prompt": ((BOTH_WAYS, NO_PROMPT), "sees the future"),
    "moved by the collate function, no mask": ((UNMOVED, MOVED, BOTH_WAYS), "sees the future"),
}
HEALTHY: dict[str, Edits] = {
    "moved by the model": (),
    "labels first": (LABELS_FIRST,),
    "only a loss comes back": (ONLY_LOSS,),
    "classes on axis 1": (ONLY_LOSS, BY_CLASSES),
    "labels without the prompt": (NO_PROMPT,),
    "moved by the collate function": (UNMOVED, MOVED),
    "moved by the model, which begins with a start, time first": (UNMOVED, *TIME_FIRST, STARTED),
    "each word from those behind it": (
        UNMOVED, ("self.layers(self.embed(input_ids))[0]", "F.pad(self.layers(self.embed(input_ids).flip(1))[0].flip(1)[:, 1:], (0, 0, 0, 1))"),
    ),
    "a few words are masked": (UNMOVED, FEW_MASKED, BOTH_WAYS),
    "a few words are masked, only a loss comes back": (UNMOVED, FEW_MASKED, BOTH_WAYS, ONLY_LOSS),
    "an autoencoder": (UNMOVED, BOTH_WAYS),
    "two tokens ahead as well": (TWO_AHEAD,),
    "two tokens ahead as well, moved once before": (
        UNMOVED, MOVED,
        ("labels.view(-1))\n", "labels.view(-1))\n        loss = loss + F.cross_entropy(logits[:, :-1].reshape(-1, WORDS), labels[:, 1:].reshape(-1))\n"),
    ),
}  # fmt: skip


def failures(host: Host, folder: Path, edits: Edits) -> list[Finding]:
    text = with_edits(PROGRAM, edits)
    program = folder / "program.py"
    program.write_text(text)
    trace, ended = host.run(program, folder, OBSERVE)
    assert ended["code"] == 0 and not trace.hooks_missing, (ended["output"], trace.hooks_missing)
    told = list(probes.judge("observe", trace, frozenset({"independence"})))
    assert told
    return [one for one in told if one.outcome == "fail"]


@pytest.mark.parametrize("name", first_ones(FAULTS))
def test_what_the_loss_inside_is_given_is_judged(host: Host, tmp_path: Path, name: str) -> None:
    edits, words = FAULTS[name]
    (said,) = failures(host, tmp_path, edits)
    assert said.severity == "error" and words in said.message, said


@pytest.mark.parametrize("name", first_ones(HEALTHY))
def test_healthy_labels_raise_nothing(host: Host, tmp_path: Path, name: str) -> None:
    assert failures(host, tmp_path, HEALTHY[name]) == []


@pytest.mark.parametrize(
    ("edits", "words"), one_in(3, [((MOVED,), ["moves its labels twice"]), ((), []), ((LABELS_FIRST,), [])])
)
def test_a_model_of_transformers_moves_them_itself(host: Host, tmp_path: Path, edits: Edits, words: list[str]) -> None:
    pytest.importorskip("transformers")
    found = failures(host, tmp_path, (REAL, *edits))
    assert len(found) == len(words) and all(word in one.message for one, word in zip(found, words, strict=True)), found
