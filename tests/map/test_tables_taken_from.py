"""A table of functions that is handed to one that calls the entry which an option names."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import read_anatomy

TRAIN = """\
import argparse

import torch
from makers import make_parts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", default=None)
    args = parser.parse_args()
    model, optimizer = make_parts(args.kind, args)
    for batch in torch.ones(3, 2, 2):
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
"""
MAKERS = """\
def make_wide(args):
    from wide import parts

    return parts(args)


def make_deep(args):
    from deep import parts

    return parts(args)


MAKERS = {"wide": make_wide, "deep": make_deep}
READERS = {"wide": make_wide}


def picked(table, kind, args):
    if kind in table:
        return table[kind](args)
    raise ValueError(kind)


def make_parts(kind, args):
    return picked(MAKERS, kind, args)


def make_reader(kind, args):
    return picked(READERS, kind, args)
"""
PARTS = """\
import torch


class {0}(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)

    def forward(self, x):
        return self.layer(x)


def parts(args):
    model = {0}()
    return model, torch.optim.{1}(model.parameters(), lr=0.1)
"""
ALSO_KEPT = MAKERS.replace("    if kind in table:\n", "    register(table)\n    if kind in table:\n")


@pytest.mark.parametrize(
    ("makers", "option", "expected"),
    [
        (MAKERS, " --kind deep", {"deep.py"}),
        (MAKERS, " --kind wide", {"wide.py"}),
        (MAKERS, "", {"deep.py", "wide.py"}),
        (ALSO_KEPT, " --kind deep", {"deep.py", "wide.py"}),
    ],
)
def test_only_the_entry_that_is_taken_out_runs(tmp_path: Path, makers: str, option: str, expected: set[str]) -> None:
    files = {
        "train.py": TRAIN,
        "makers.py": makers,
        "wide.py": PARTS.format("Wide", "SGD"),
        "deep.py": PARTS.format("Deep", "Adam"),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    truth = read_anatomy(tmp_path, "train.py", f"python train.py{option}").truth
    assert truth is not None
    reached = {one.path for one in truth.program.entry.reach.distance if one.name == "parts"}
    assert reached == expected
