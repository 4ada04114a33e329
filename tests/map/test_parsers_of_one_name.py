"""Parsers of several subcommands that one variable is bound to, one after the other."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import read_anatomy

TRAIN = """\
import argparse

import torch


def fitted(args, rate):
    model = torch.nn.Linear(args.width, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    for batch in torch.ones(args.batches, 3, args.width):
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()
    torch.save(model.state_dict(), "model.pt")


def scored(args):
    model = torch.nn.Linear(args.width, 1)
    model.load_state_dict(torch.load("model.pt"))
    for batch in torch.ones(args.batches, 3, args.width):
        print(model(batch).mean())


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers()
    own = commands.add_parser("fit")
    own.set_defaults(callback=lambda args: fitted(args, 0.1), width=3)
    own.add_argument("--batches", type=int, default=40)
    own = commands.add_parser("score")
    own.set_defaults(callback=scored, width=9)
    own.add_argument("--batches", type=int, default=5)
    own.add_argument("--table", default="scores.csv")
    args = parser.parse_args()
    args.callback(args)


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("command", "expected", "runs"),
    [("fit", {"batches": "40", "width": "3", "table": None}, {"fitted"}), ("score", {"batches": "5", "width": "9", "table": "scores.csv"}, {"scored"})],
)  # fmt: skip
def test_the_options_are_those_of_the_parser_that_the_name_held_last(
    tmp_path: Path, command: str, expected: dict[str, str | None], runs: set[str]
) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    truth = read_anatomy(tmp_path, "train.py", f"python train.py {command}").truth
    assert truth is not None
    keys = {key.name: key.value for key in truth.keys}
    assert {name: keys.get(name) for name in expected} == expected
    reached = {one.name for one in truth.program.entry.reach.distance}
    assert runs <= reached
    if command == "fit":
        assert "scored" not in reached
