"""Attributes that depend on each other are worked out once each: a class of many took a minute."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import map_depth
import pytest
from trainsleuth.map import expand_component
from trainsleuth.map.configuration.values import attribute_values, scope

MANY = 12
TRAIN = """\
import argparse

import torch


class Trainer:
    def __init__(self, args):
        self.a0 = args.depth
{sets}
        self.model = torch.nn.Linear(2, 2)

    def fit(self):
        optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        for step in range(9):
            if {last}:
                self.model(torch.zeros(1, 2)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()


parser = argparse.ArgumentParser()
parser.add_argument("--depth", type=int, default=3)
Trainer(parser.parse_args()).fit()
"""


def test_no_question_is_asked_again_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = []
    for place in range(1, MANY):
        tests = " and ".join(f"self.a{before} is not None" for before in range(place))
        lines += [f"        if {tests}:", f"            self.a{place} = make({place})"]
    last = " and ".join(f"self.a{place} is not None" for place in range(MANY))
    root = map_depth.write({"train.py": TRAIN.format(sets="\n".join(lines), last=last)}, tmp_path)
    asked: list[str] = []
    inner = attribute_values._set_in

    def counted(scope: Any, owner: Any, name: str, runs: Any) -> Any:
        asked.append(name)
        return inner(scope, owner, name, runs)

    monkeypatch.setattr(attribute_values, "_set_in", counted)
    expand_component(root, "run", recipe="python train.py --depth 4")
    assert asked
    assert len(asked) <= 2 * MANY * scope.MAX_HOPS, len(asked)
