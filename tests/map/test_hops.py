"""A question is answered one step along the calls, with values that come through several functions."""

from __future__ import annotations

from pathlib import Path

import map_depth
import pytest
from trainsleuth.map import expand_component

TRAIN = """import argparse
import torch
import yaml
from lib.engine import Engine


def build(conf):
    groups = [{"params": [p], **group} for p, group in zip(torch.nn.Linear(2, 2).parameters(), conf["optim"]["groups"])]
    return Engine(torch.optim.SGD(groups, lr=conf["optim"]["lr"]), conf["ceiling"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("config")
    args = parser.parse_args()
    conf = yaml.safe_load(open(args.config))
    engine = build(conf)
    for step in range(conf["steps"]):
        engine.advance(torch.ones(1, 2), conf["label_smoothing"])


if __name__ == "__main__":
    main()
"""
ENGINE = """import torch


class Engine:
    def __init__(self, optimizer, ceiling):
        self.optimizer = optimizer
        self.model = torch.nn.Linear(2, 2)
        self.held = ceiling
        self.counted = 0

    def advance(self, batch, smoothing):
        divisor = batch.size(0) * 3
        loss = self.measure(batch, smoothing) / divisor
        loss.backward()
        self.limit(self.held)
        self.optimizer.step()
        self.optimizer.zero_grad()

    def measure(self, batch, smoothing):
        scores = self.model(batch)
        wanted = torch.zeros(len(scores), dtype=torch.long)
        chance = torch.rand(1)
        picked = torch.argmax(scores)
        self.counted += int(chance > 0.5) + int(picked)
        return torch.nn.functional.cross_entropy(scores, wanted, label_smoothing=smoothing)

    def limit(self, bound):
        most = bound
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), most)
"""
FILES = {
    "train.py": TRAIN,
    "lib/__init__.py": "",
    "lib/engine.py": ENGINE,
    "conf/a.yaml": "steps: 7\nceiling: 2.5\nlabel_smoothing: 0.1\noptim:\n  lr: 0.3\n  groups:\n"
    "  - kind: ^weight$\n    lr: 0.01\n  - kind: ^bias$\n    lr: 0.02\n".replace("\\\n", "\n"),
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return map_depth.write(FILES, tmp_path_factory.mktemp("hops"))


def _told(root: Path, what: str, budget: int = 300) -> str:
    found = expand_component(root, what, "train.py", "conf/a.yaml", budget)
    assert found.used <= budget
    return found.text


def test_a_question_shows_what_its_best_line_is_made_of(root: Path) -> None:
    text = _told(root, "ask By what is the loss divided?")
    assert "13  loss = self.measure(batch, smoothing) / divisor" in text
    assert "12  divisor = batch.size(0) * 3" in text  # no word of the question


def test_a_value_comes_through_constructors_parameters_and_names(root: Path) -> None:
    text = _told(root, "open Engine.limit")
    assert "clip_grad_norm_(self.model.parameters(), most)  # most = bound = conf.ceiling = 2.5 (a.yaml:2)" in text


def test_a_value_in_an_entry_of_a_list_says_which_entry(root: Path) -> None:
    assert "groups.0.lr = 0.01 a.yaml:8 (of kind=^weight$)" in _told(root, "ask Which learning rates are there?")
    assert "lr=0.01 :8 (of kind=^weight$)" in _told(root, "run", 1200)


def test_a_parameter_is_opened_where_it_is_said(root: Path) -> None:
    text = _told(root, "open smoothing")
    assert "no definition and no line smoothing" in text and "label_smoothing=smoothing" in text
