"""A recipe is read wherever it lies: behind a link inside the root, in a folder of tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import expand_component
from trainsleuth.repository import Repository

TRAIN = """\
import sys

import torch
from omegaconf import OmegaConf
from torch import nn


def main():
    options = OmegaConf.load(sys.argv[1])
    options = OmegaConf.merge(options, OmegaConf.from_dotlist(sys.argv[3:]))
    model = nn.Linear(4, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=options["training"]["learning_rate"])
    for epoch in range(options["training"]["num_epochs"]):
        optimizer.zero_grad()
        model(torch.zeros(1, 4)).sum().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
"""
OPTIONS = "training:\n  learning_rate: 0.003\n  num_epochs: 70\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for path, text in (("train.py", TRAIN), ("tests/far/options.yaml", OPTIONS)):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "options.yaml").symlink_to("../tests/far/options.yaml")
    (tmp_path / "short").symlink_to("tests/far")
    return tmp_path


@pytest.mark.parametrize(
    "recipe",
    [
        "tests/far/options.yaml",
        "examples/options.yaml",
        "./short/options.yaml",
        "python train.py examples/options.yaml",
        "python train.py tests/far/options.yaml",
    ],
)
def test_it_is_read(project: Path, recipe: str) -> None:
    told = expand_component(project, "run", scope="train.py", recipe=recipe).text
    assert "0.003" in told, told
    assert "70" in told, told


def test_what_the_command_changes_of_it_counts(project: Path) -> None:
    recipe = "python train.py examples/options.yaml -r training.num_epochs=5"
    told = expand_component(project, "run", scope="train.py", recipe=recipe).text
    assert "num_epochs=5 the command" in told, told
    assert "num_epochs=70" not in told, told


def test_a_file_is_opened_through_a_link(project: Path) -> None:
    told = expand_component(project, "lines learning_rate in examples/options.yaml", scope="train.py").text
    assert "0.003" in told, told


def test_a_link_out_of_the_root_is_none(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.yaml").write_text("training: {learning_rate: 9}\n", encoding="utf-8")
    (project / "out").symlink_to(outside)
    (project / "loop").symlink_to(project)
    repository = Repository(project)
    assert repository.behind_links("out/secret.yaml") == "out/secret.yaml"
    assert repository.behind_links("loop/train.py") == "train.py"
    assert repository.behind_links("train.py") == "train.py"
    assert repository.behind_links("nowhere/train.py") == "nowhere/train.py"
    assert repository.behind_links("examples/options.yaml") == "tests/far/options.yaml"
