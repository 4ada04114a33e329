"""A training function that nothing calls is told to be so."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import map_repository

MAIN = """
import torch

from engine import train_epoch, evaluate


def main():
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for epoch in range(3):
        # losses = train_epoch(model, optimizer)
        evaluate(model)
        LAST


if __name__ == "__main__":
    main()
"""
ENGINE = """
import torch


def train_epoch(model, optimizer):
    for x in torch.load("batches.pt"):
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def evaluate(model):
    model.eval()
    with torch.no_grad():
        return model(torch.ones(4))
"""


@pytest.mark.parametrize(
    ("last", "is_said"), [("pass", True), ("run = table[train_epoch]", False), ("train_epoch(model, optimizer)", False)]
)
def test_a_call_that_is_a_comment_is_named(tmp_path: Path, last: str, is_said: bool) -> None:
    (tmp_path / "main.py").write_text(MAIN.replace("LAST", last))
    (tmp_path / "engine.py").write_text(ENGINE)
    found = map_repository(tmp_path, None, "python main.py").text
    said = "nothing calls engine.py:5 train_epoch; the call on main.py:11 is a comment"
    assert (said in found) is is_said, found


def test_a_function_that_a_setting_names_is_not_said_to_be_left(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(MAIN.replace("LAST", "pass"))
    (tmp_path / "engine.py").write_text(ENGINE)
    (tmp_path / "settings.yaml").write_text("step: engine.train_epoch\n")
    assert "nothing calls" not in map_repository(tmp_path, None, "python main.py").text
