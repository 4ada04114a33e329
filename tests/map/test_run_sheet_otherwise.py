"""A program that evaluates and tells its numbers by plain statements has them on the sheet of a run."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import write
from trainsleuth.map import expand_component

TRAIN = """import torch


def main():
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(10):
        model.train()
        for x in torch.randn(20, 8, 4):
            loss = model(x).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            error = model(torch.ones(8, 4)).abs().mean()
        TELLS


if __name__ == "__main__":
    main()
"""


def sheet(root: Path, tells: str, **files: str) -> str:
    write({"train.py": TRAIN.replace("TELLS", tells), **files}, root)
    return expand_component(root, "run", budget=2000).text


def test_plain_statements_evaluate_and_tell(tmp_path: Path) -> None:
    text = sheet(tmp_path, 'print(f"epoch {epoch} error {error:.3f}")')
    missing = text.partition("nothing found: ")[2].splitlines()[0].split(", ")
    assert not {"evaluated", "logged"} & set(missing)
    assert "train.py:14 model.eval() · each epoch, after its batches" in text
    assert 'train.py:17 print(f"epoch {epoch} error {error:.3f}") · each epoch, after its batches' in text


@pytest.mark.parametrize("tells", ["wandb.log({'error': error})"])
def test_they_are_left_out_where_something_says_more(tmp_path: Path, tells: str) -> None:
    text = sheet(tmp_path, f"{tells}\n        print(epoch)")
    assert "print(epoch)" not in text and "wandb.log(" in text
