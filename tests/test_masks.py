"""A mask of padding that batches hold and the model is never given: told where it would change what comes out, and only there."""

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
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

torch.manual_seed(0)
texts = [torch.randint(3, 40, (n,)) for n in torch.randint(4, 16, (96,)).tolist()]


def collate(texts):
    ids = pad_sequence(texts, batch_first=True)
    mask = pad_sequence([torch.ones_like(one) for one in texts], batch_first=True)
    return {"input_ids": ids, "attention_mask": mask, "labels": torch.stack([one[0] % 3 for one in texts])}


class Encoder(nn.Module):
    def __init__(self, causal=False, out=3):
        super().__init__()
        self.causal, self.embed, self.qkv, self.head = causal, nn.Embedding(40, 16), nn.Linear(16, 48), nn.Linear(16, out)

    def forward(self, input_ids, attention_mask=None, lengths=None, padding=None, labels=None):
        q, k, v = self.qkv(self.embed(input_ids)).chunk(3, -1)
        sees = torch.ones(q.shape[0], q.shape[1], q.shape[1], dtype=torch.bool)
        sees = sees.tril() if self.causal else sees
        if attention_mask is None and lengths is None and padding is None:
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        else:
            real = attention_mask.bool() if attention_mask is not None else ~padding if padding is not None else torch.arange(q.shape[1]) < lengths[:, None]
            mixed = F.scaled_dot_product_attention(q, k, v, sees & (real[:, None] | torch.eye(q.shape[1], dtype=torch.bool)))
        return self.head(mixed) if self.causal else self.head(mixed[:, 0])


model = Encoder()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
loader = DataLoader(texts, 12, shuffle=True, collate_fn=collate)
for epoch in range(2):
    for batch in loader:
        ids, labels = batch["input_ids"], batch["labels"]
        logits = model(ids)
        loss = F.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        for batch in loader:
            model(batch["input_ids"])
"""
CALL, EVALUATED = "        logits = model(ids)\n", 'model(batch["input_ids"])'
CAUSAL = (
    ("model = Encoder()", "model = Encoder(True, 40)"),
    (
        "F.cross_entropy(logits, labels)",
        "F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0)",
    ),
)
LEFT = (("pad_sequence(texts, batch_first=True)", "pad_sequence([one.flip(0) for one in texts], batch_first=True).flip(1)"),
        ("ones_like(one) for one in texts], batch_first=True)", "ones_like(one) for one in texts], batch_first=True).flip(1)"))  # fmt: skip

Edits = tuple[tuple[str, str], ...]
LEFT_OUT: dict[str, tuple[Edits, str]] = {
    "everywhere": ((), "medium"),
    "in training": (((EVALUATED, 'model(batch["input_ids"], batch["attention_mask"])'),), "high"),
    "padding before causal sequences": ((*CAUSAL, *LEFT), "medium"),
    "none is given": ((("model(ids)", "model(ids, None)"),), "medium"),
    "batches read ahead": ((("    for batch in loader:\n        ids", "    for batch in list(loader):\n        ids"),), "medium"),
    "marks of padding": (
        (("torch.ones_like(one) for one in texts], batch_first=True)", "torch.zeros_like(one) for one in texts], batch_first=True, padding_value=1).bool()"),
         ('"attention_mask"', '"padding_mask"'), ("padding=None", "padding_mask=None"), ("padding is", "padding_mask is"), ("~padding ", "~padding_mask ")), "medium",
    ),
}  # fmt: skip
HEALTHY: dict[str, Edits] = {
    "given": (("model(ids)", 'model(ids, batch["attention_mask"])'),),
    "padding behind causal sequences": CAUSAL,
    "made of the tokens": (("        q, k, v", "        attention_mask = input_ids != 0 if attention_mask is None else attention_mask\n        q, k, v"),),
    "lengths are given": (("model(ids)", 'model(ids, lengths=batch["attention_mask"].sum(1))'),),
    "the padding is given": (("model(ids)", "model(ids, padding=ids == 0)"),),
    "tokens of one length": (("randint(4, 16", "randint(9, 10"),),
    "sequences without padding, side by side": (("model(ids)", "torch.cat([model(row[row != 0][None]) for row in ids])"),),
    "words to be guessed": (("torch.ones_like(one) for one in texts]", "(torch.rand(len(one)) < 0.7).long() for one in texts]"),),
    "a model that knows of no mask": (("attention_mask=None, ", ""), ("attention_mask is None and ", ""), ("attention_mask.bool() if attention_mask is not None else ", ""),),
    "a mask that is not used": (("        q, k, v", "        attention_mask = None\n        q, k, v"),),
}  # fmt: skip


def told(host: Host, folder: Path, edits: Edits) -> tuple[list[Finding], str]:
    text = with_edits(PROGRAM, edits)
    program = folder / "program.py"
    program.write_text(text)
    trace, ended = host.run(program, folder, dict(probes.EXPERIMENTS["observe"]))
    assert ended["code"] == 0 and not trace.hooks_missing, (ended["output"], trace.hooks_missing)
    found = probes.judge("observe", trace, frozenset({"batch_as_seen"}))
    return [one for one in found if "is never given" in one.message], text


@pytest.mark.parametrize("name", first_ones(LEFT_OUT, 2))
def test_a_mask_that_is_left_out_is_told_at_the_call(host: Host, tmp_path: Path, name: str) -> None:
    edits, confidence = LEFT_OUT[name]
    (said,), text = told(host, tmp_path, edits)
    assert (said.severity, said.confidence) == ("warning", confidence), said
    assert text.splitlines()[(said.line or 0) - 1].startswith("        logits = model(ids"), said


@pytest.mark.parametrize("name", first_ones(HEALTHY, 3))
def test_a_mask_that_changes_nothing_or_is_told_otherwise_is_not(host: Host, tmp_path: Path, name: str) -> None:
    assert told(host, tmp_path, HEALTHY[name])[0] == []


def test_where_only_a_loss_comes_out_it_is_a_note(host: Host, tmp_path: Path) -> None:
    inside = (("self.head(mixed[:, 0])", "F.cross_entropy(self.head(mixed[:, 0]), labels)"), (CALL, ""),
              ("F.cross_entropy(logits, labels)\n", "model(ids, labels=labels)\n"), (EVALUATED, "pass"))  # fmt: skip
    (said,), _ = told(host, tmp_path, inside)
    assert said.severity == "note" and "could not be tried" in said.message
