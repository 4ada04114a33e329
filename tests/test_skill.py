"""The skill is chosen when it should be, and what its pages show to run does run."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
import yaml
from trainsleuth.bm25 import Ranking

ROOT = Path(__file__).resolve().parent.parent
DESCRIPTION = yaml.safe_load((ROOT / "SKILL.md").read_text("utf-8").split("---\n")[1])["description"]

# Skills that stand beside it in an agent's list. Choosing is a model's work; words are what both go by.
NEIGHBOURS = (
    "Use to set up a machine for deep learning: install PyTorch, CUDA drivers, conda environments, fix import errors.",
    "Use when a program crashes with a traceback or an exception: read the error, find the line, fix the code.",
    "Use to choose a model or an architecture for a task, and to compare published models and their licences.",
    "Use to profile and speed up Python and GPU code: memory, throughput, kernels, compile, slow loaders.",
    "Use to write or refactor web front ends with React, TypeScript and CSS.",
    "Use to query, clean and plot tables with pandas and SQL.",
    "Use to deploy a trained model behind an API with Docker and Kubernetes.",
    "Use to write unit tests and documentation for a Python package.",
)
SHOULD = (
    "my loss is stuck at 2.3 and does not go down",
    "why is my loss NaN after 500 steps",
    "training looks fine but validation is much worse",
    "validation accuracy is suspiciously good, 99.9 percent",
    "the results differ a lot per seed",
    "my model does not learn anything",
    "is this training loop right?",
    "explain this repo, it is a training repository from a paper",
    "I cannot reach the numbers of the paper",
    "check my training code for silent bugs before a long costly run",
)
SHOULD_NOT = (
    "ImportError: no module named torch, how do I install it",
    "CUDA driver version is insufficient, set up my machine",
    "this script crashes with a traceback, fix the exception",
    "which architecture should I choose for segmentation",
    "speed up my GPU kernels, throughput is low",
    "center a div in React with CSS",
    "plot this pandas table",
    "deploy the trained model with Docker",
    "write unit tests for this package",
    "which published models have a permissive licence",
)


def chosen(query: str) -> bool:
    scores = Ranking([DESCRIPTION, *NEIGHBOURS]).scores(query)
    return scores[0] > 0 and scores[0] == max(scores)


@pytest.mark.parametrize("query", SHOULD)
def test_the_description_is_nearest_to_what_it_is_for(query: str) -> None:
    assert chosen(query)


@pytest.mark.parametrize("query", SHOULD_NOT)
def test_the_description_is_not_nearest_to_what_it_is_not_for(query: str) -> None:
    assert not chosen(query)


def python_of(page: str) -> str:
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "refs" / page).read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return "\n".join(blocks)


def test_the_probe_environments_run_as_they_stand(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch").set_num_threads(1)
    monkeypatch.syspath_prepend(str(ROOT / "evidence" / "experiments"))
    exec(python_of("rl.md"), {"__name__": "rl"})
    told = capsys.readouterr().out.splitlines()
    assert len(told) == 5
    assert all(line.endswith("True") for line in told)
    sys.modules.pop("probe_environments")


def test_the_physics_check_runs_as_it_stands() -> None:
    pytest.importorskip("torch")
    exec(python_of("pinn.md"), {"__name__": "pinn"})


def test_the_site_has_every_page() -> None:
    shown = set(re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE))
    assert all((ROOT / page).is_file() for page in shown)
    assert {page.relative_to(ROOT).as_posix() for page in ROOT.glob("refs/*.md")} <= shown
