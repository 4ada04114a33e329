"""A recurrent layer that sees one step in each call, with a state of zeros: its own weights get gradients of zero."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, failing, with_edits

pytest.importorskip("torch")

PROGRAM = """
import torch
from torch import nn

torch.manual_seed(0)


class Speaker(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.cell, self.head = nn.Embedding(20, 64), nn.LSTM(64, 8, batch_first=True), nn.Linear(8, 20)

    def forward(self, tokens):
        state, said = None, []
        for place in range(tokens.shape[1]):
            out, state = self.cell(self.embed(tokens[:, place : place + 1]), state)
            said.append(self.head(out))
        return torch.cat(said, 1)


model = Speaker()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(40):
    tokens = torch.randint(20, (16, 9))
    loss = nn.functional.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, :-1].cumsum(1).remainder(20).flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
LEFT = ("out, state = self.cell", "out, _ = self.cell")
WIDE = (("nn.LSTM(64, 8,", "nn.LSTM(64, 64,"), ("nn.Linear(8, 20)", "nn.Linear(64, 20)"))


def said(host: Host, folder: Path, *edits: tuple[str, str]) -> list[str]:
    found = failing(host, folder, with_edits(PROGRAM, edits), "parameter_table", 40)
    return [f"{one.severity}: {one.message}" for one in found]


@pytest.mark.parametrize("more", [(), WIDE], ids=["a small part", "a large part"])
def test_a_state_that_is_thrown_away(host: Host, tmp_path: Path, more: tuple[tuple[str, str], ...]) -> None:
    (message,) = said(host, tmp_path, LEFT, *more)
    assert message.startswith("warning: 1 of 7 parameters") and "cell.weight_hh_l0" in message
    assert "begins with a state of zeros" in message


def test_a_state_that_is_handed_on(host: Host, tmp_path: Path) -> None:
    assert not said(host, tmp_path)


def test_one_step_on_purpose_is_a_question(host: Host, tmp_path: Path) -> None:
    once = (
        ("state, said = None, []", "said = []"),
        ("for place in range(tokens.shape[1]):", "for place in range(1):"),
        (
            "out, state = self.cell(self.embed(tokens[:, place : place + 1]), state)",
            "out, _ = self.cell(self.embed(tokens).flatten(0, 1)[:, None])",
        ),
        ("return torch.cat(said, 1)", "return torch.cat(said, 1).view(len(tokens), -1, 20)"),
    )
    (message,) = said(host, tmp_path, *once, *WIDE)
    assert message.startswith("note: 1 of 7 parameters")


def test_two_inputs_with_one_step_each_are_a_question(host: Host, tmp_path: Path) -> None:
    twice = (
        ("for place in range(tokens.shape[1]):", "for place in range(2):"),
        ("out, state = self.cell", "out, _ = self.cell"),
        (
            "tokens[:, :-1]).flatten(0, 1), tokens[:, :-1].cumsum(1).remainder(20).flatten()",
            "tokens[:, :2]).flatten(0, 1), tokens[:, :2].flatten()",
        ),
    )
    (message,) = said(host, tmp_path, *twice, *WIDE)
    assert message.startswith("note: 1 of 7 parameters")
