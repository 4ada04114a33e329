"""Fine-tuning that counts the prompt in place of the answer, or never the end, is told; what leaves them out on purpose is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, first_ones, with_edits

pytest.importorskip("torch")

from trainsleuth import probes
from trainsleuth.finding import Finding

PROGRAM = """import torch
import torch.nn as nn
import torch.nn.functional as F
from types import SimpleNamespace
from torch.nn.utils.rnn import pad_sequence

rng = torch.Generator().manual_seed(0)
torch.manual_seed(0)
WORDS, PAD, EOS = 40, 0, 2


def words(least, most):
    return torch.randint(3, WORDS, (int(torch.randint(least, most, (1,), generator=rng)),), generator=rng)


def example():
    prompt, answer = words(3, 9), torch.cat([words(3, 12), torch.tensor([EOS])])
    ids = torch.cat([prompt, answer])
    labels = ids.clone()
    labels[: len(prompt)] = -100
    return ids, labels


def batch():
    ids, labels = zip(*(example() for _ in range(8)))
    mask = pad_sequence([torch.ones_like(one) for one in ids], batch_first=True)
    ids = pad_sequence(ids, batch_first=True, padding_value=PAD)
    labels = pad_sequence(labels, batch_first=True, padding_value=-100)
    return ids, labels, mask


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.config = SimpleNamespace(eos_token_id=EOS)
        self.embed, self.layers, self.head = nn.Embedding(WORDS, 16), nn.GRU(16, 16, batch_first=True), nn.Linear(16, WORDS)

    def forward(self, input_ids, attention_mask=None):
        return self.head(self.layers(self.embed(input_ids))[0])


model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(8):
    ids, labels, mask = batch()
    logits = model(ids)
    loss = F.cross_entropy(logits[:, :-1].reshape(-1, WORDS), labels[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
MASKED, LOSS = (
    "    labels[: len(prompt)] = -100\n",
    "    loss = F.cross_entropy(logits[:, :-1].reshape(-1, WORDS), labels[:, 1:].reshape(-1))\n",
)
SWAPPED = (("labels[: len(prompt)]", "labels[len(prompt) :]"),)
BY_ID = (
    ("PAD, EOS = 40, 0, 2", "PAD, EOS = 40, 2, 2"),
    ("padding_value=-100)\n", "padding_value=-100)\n    labels = labels.masked_fill(ids == PAD, -100)\n"),
)
LIST = (("eos_token_id=EOS", "eos_token_id=[EOS, 39]"), ("randint(3, WORDS", "randint(3, 39"))
AT_ONCE = ((LOSS, "    loss = F.cross_entropy(logits.transpose(1, 2), F.pad(labels, (0, 1), value=-100)[:, 1:])\n"),)
BY_HAND = (
    (LOSS, '    each = F.cross_entropy(logits[:, :-1].reshape(-1, WORDS), ids[:, 1:].reshape(-1), reduction="none")\n'
     "    counts = (labels[:, 1:] != -100).reshape(-1)\n    loss = (each * counts).sum() / counts.sum()\n"),
)  # fmt: skip
SLICED = (
    ("    return ids, labels, mask", "    return ids[:, :-1], labels[:, 1:], mask[:, :-1]"),
    ("logits[:, :-1].", "logits."),
    ("labels[:, 1:].", "labels."),
)
LEFT = (("    ids, labels = zip(*(example() for _ in range(8)))", "    ids, labels = zip(*([one.flip(0) for one in example()] for _ in range(8)))"),
        ("    return ids, labels, mask", "    return ids.flip(1), labels.flip(1), mask.flip(1)"))  # fmt: skip
ONE_WIDTH = (
    (
        "    return ids, labels, mask",
        "    more = 24 - ids.shape[1]\n    return F.pad(ids, (0, more), value=PAD), F.pad(labels, (0, more), value=-100), F.pad(mask, (0, more))",
    ),
)
NO_END = (("torch.cat([words(3, 12), torch.tensor([EOS])])", "words(3, 12)"),)
OTHER_END = (("torch.tensor([EOS])", "torch.tensor([1])"),)

Edits = tuple[tuple[str, str], ...]
BEGINNING: dict[str, Edits] = {
    "the answer is masked": SWAPPED,
    "the answer is masked, labels of full width": (*SWAPPED, *AT_ONCE),
    "the answer is masked, padded before": (*SWAPPED, *LEFT),
    "the answer is masked behind the loss": (*SWAPPED, *BY_HAND),
    "the answer is masked, all of one width": (*SWAPPED, *ONE_WIDTH),
    "the answer is masked, tokens and labels apart by one": (*SWAPPED, *SLICED),
}
END: dict[str, Edits] = {
    "padding is the end and masked by id": BY_ID,
    "padding is one of two ends": (*BY_ID, *LIST),
    "padding is the end, labels of full width": (*BY_ID, *AT_ONCE),
    "padding is the end and before": (*BY_ID, *LEFT),
    "padding is the end, of one width, the real one is attended to": (
        *BY_ID,
        *ONE_WIDTH,
        ("model(ids)", "model(ids, attention_mask=mask)"),
    ),
    "the prompt counts too": (*BY_ID, (MASKED, "")),
}
HEALTHY: dict[str, Edits] = {
    "the prompt is masked": (),
    "all counts": ((MASKED, ""),),
    "padding is the end and masked by its place": (("PAD, EOS = 40, 0, 2", "PAD, EOS = 40, 2, 2"),),
    "masked by place, behind the loss": (("PAD, EOS = 40, 0, 2", "PAD, EOS = 40, 2, 2"), *BY_HAND),
    "pieces of texts without an end": ((MASKED, ""), *NO_END, ("words(3, 9)", "words(8, 9)"), ("words(3, 12)", "words(11, 12)")),
    "sentences without an end, filled up with it": (*BY_ID, *NO_END, (MASKED, "")),
    "an end of turns, filled up with another": (*BY_ID, *OTHER_END),
    "an end of turns, filled up to one width": (*BY_ID, *OTHER_END, *ONE_WIDTH),
    "an end in the prompt alone": ((*OTHER_END, ("prompt, answer = words(3, 9),", "prompt, answer = torch.cat([words(3, 9), torch.tensor([EOS])]),"))),
    "the first one of several counts": ((MASKED, "    labels[: len(prompt)] = -100\n    ids, labels = torch.cat([ids, torch.tensor([EOS, EOS])]), torch.cat([labels, torch.tensor([-100, -100])])\n"),),
    "an answer between two questions": ((MASKED, "    labels[: len(prompt)] = -100\n    more = words(3, 9)\n    ids, labels = torch.cat([ids, more]), torch.cat([labels, -100 + 0 * more])\n"),),
    "pictures stand behind their captions": ((MASKED, "    ids, labels = torch.cat([ids, torch.full((6,), 1), torch.tensor([EOS])]), torch.cat([ids, torch.full((7,), -100)])\n"),),
    "only the first places count": ((MASKED, "    labels[6:] = -100\n"), ("words(3, 12)", "words(5, 12)")),
    "tags": ((LOSS, "    loss = F.cross_entropy(logits.reshape(-1, WORDS), (labels % 7).reshape(-1) % 7)\n"),),
    "words to be guessed": (*BY_ID, (LOSS, "    loss = F.cross_entropy(logits.reshape(-1, WORDS), labels.reshape(-1))\n")),
    "settings of another vocabulary": (*BY_ID, ("eos_token_id=EOS", "eos_token_id=50256")),
}  # fmt: skip
NOTED: dict[str, Edits] = {
    "of one width, without a mask": (*BY_ID, *ONE_WIDTH),
    "the answer is for another loss": (*SWAPPED, (LOSS, LOSS + "    loss = loss + F.mse_loss(logits[:, -1].mean(1), torch.zeros(8))\n")),
}  # fmt: skip
BOTH = (
    (
        LOSS,
        LOSS
        + "    rest = ids.masked_fill((labels != -100) | (ids == PAD), -100)\n    loss = loss + 0.1 * F.cross_entropy(logits[:, :-1].reshape(-1, WORDS), rest[:, 1:].reshape(-1))\n",
    ),
)


def told(host: Host, folder: Path, edits: Edits) -> tuple[list[Finding], str]:
    text = with_edits(PROGRAM, edits)
    program = folder / "program.py"
    program.write_text(text)
    trace, ended = host.run(program, folder, dict(probes.EXPERIMENTS["observe"]))
    assert ended["code"] == 0 and not trace.hooks_missing, (ended["output"], trace.hooks_missing)
    assert trace.events("loss")
    found = probes.judge("observe", trace, frozenset({"loss_contract"}))
    return [one for one in found if "beginning of the seq" in one.message or "as target:" in one.message], text


@pytest.mark.parametrize("name", first_ones(BEGINNING, 1))
def test_a_beginning_that_alone_counts_is_told_at_the_loss(host: Host, tmp_path: Path, name: str) -> None:
    (said,), text = told(host, tmp_path, BEGINNING[name])
    assert said.severity == "warning" and "counts only the beginning" in said.message, said
    assert "F.cross_entropy(" in text.splitlines()[(said.line or 0) - 1]


@pytest.mark.parametrize("name", first_ones(END, 2))
def test_an_end_that_is_never_a_target_is_told_at_the_loss(host: Host, tmp_path: Path, name: str) -> None:
    (said,), text = told(host, tmp_path, END[name])
    assert said.severity == "warning" and "never has the end of a sequence" in said.message, said
    assert "F.cross_entropy(" in text.splitlines()[(said.line or 0) - 1]


@pytest.mark.parametrize("name", first_ones(HEALTHY, 3))
def test_targets_that_are_meant_are_not(host: Host, tmp_path: Path, name: str) -> None:
    assert told(host, tmp_path, HEALTHY[name])[0] == []


@pytest.mark.parametrize("name", first_ones(NOTED, 1))
def test_what_may_be_meant_is_a_note(host: Host, tmp_path: Path, name: str) -> None:
    (said,), _ = told(host, tmp_path, NOTED[name])
    assert said.severity == "note", said


def test_two_losses_of_one_call_are_taken_together(host: Host, tmp_path: Path) -> None:
    assert told(host, tmp_path, (*SWAPPED, *BOTH))[0] == []
