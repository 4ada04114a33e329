"""Parameters that hold one section of the configuration decide the arms that test what stands in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import read_anatomy

TRAIN = """import sys

import torch
import yaml


def net_a():
    return torch.nn.Linear(2, 1)


def net_b():
    return torch.nn.Linear(2, 2)


def build_model(cfg):
    if {test} == "a":
        return net_a()
    elif {test} == "b":
        return net_b()


def main(cfg):
    model = build_model({given})
    {more}
    optimizer = torch.optim.SGD(model.parameters(), lr=cfg.optimizer.lr)
    for batch in [torch.ones(2, 2)]:
        loss = model(batch).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main(yaml.safe_load(open(sys.argv[1])))
"""
RECIPE = "model: {name: b}\nother: {name: a}\nsame: {name: b}\noptimizer: {name: a, lr: 0.1}\n"


def reached(root: Path, **words: str) -> set[str]:
    (root / "configs").mkdir(exist_ok=True)
    (root / "configs" / "b.yaml").write_text(RECIPE)
    (root / "train.py").write_text(TRAIN.format(**words))
    program = read_anatomy(root, "train.py", "configs/b.yaml").program
    assert program is not None
    return {function.name for function in program.entry.reach.distance} & {"net_a", "net_b"}


@pytest.mark.parametrize("test", ["cfg.name", 'cfg["name"]', 'cfg.get("name")'])
@pytest.mark.parametrize("given", ["cfg.model", 'cfg["model"]'])
def test_the_section_that_is_given_decides(test: str, given: str, tmp_path: Path) -> None:
    assert reached(tmp_path, test=test, given=given, more="") == {"net_b"}


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ("build_model(cfg.same)", {"net_b"}),
        ("build_model(cfg.other)", {"net_a", "net_b"}),
        ("build_model(cfg)", {"net_a", "net_b"}),
        ("build_model(load())", {"net_a", "net_b"}),
    ],
)
def test_calls_that_do_not_agree_decide_nothing(more: str, found: set[str], tmp_path: Path) -> None:
    assert reached(tmp_path, test="cfg.name", given="cfg.model", more=more) == found


def test_a_name_that_is_bound_to_the_section_stands_for_it(tmp_path: Path) -> None:
    text = TRAIN.format(test="cfg.name", given="part", more="").replace(
        "    model = build", "    part = cfg.model\n    model = build"
    )
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "b.yaml").write_text(RECIPE)
    (tmp_path / "train.py").write_text(text)
    program = read_anatomy(tmp_path, "train.py", "configs/b.yaml").program
    assert program is not None
    assert "net_a" not in {function.name for function in program.entry.reach.distance}
