"""Suggested changes: each cures its finding, and brings in no other."""

from __future__ import annotations

import re
import subprocess
from importlib import import_module
from pathlib import Path

import pytest
from trainsleuth.checks import run_checks
from trainsleuth.checks.docs import files_of
from trainsleuth.repository import Repository
from trainsleuth.suggest import suggested
from twins import one_in

CHECKS = ("missing-zero-grad", "zero-grad-before-step", "clip-without-unscale", "loss-kept-with-graph", "bypassed-ddp")
# how many of the broken programs of a check get a suggestion: the others are not cured by one line
AT_LEAST = {
    "missing-zero-grad": 7,
    "zero-grad-before-step": 7,
    "clip-without-unscale": 4,
    "loss-kept-with-graph": 3,
    "bypassed-ddp": 4,
}


def failed(root: Path) -> set[str]:
    """Ids of the checks that mean to accuse; a note by design may follow from a cure: what is summed may want an
    average.
    """
    return {
        f.by.removeprefix("check:") for f in run_checks(Repository(root)).findings if f.grounds and f.outcome == "fail"
    }


@pytest.mark.parametrize("check_id", one_in(2, CHECKS))
def test_applied_it_cures_the_finding_and_nothing_else_fails(check_id: str, tmp_path: Path) -> None:
    programs = import_module(f"tests.checks.cases.{check_id.replace('-', '_')}").FAILS
    cured = 0
    for number, source in enumerate(programs.values()):
        root = tmp_path / str(number)
        root.mkdir()
        for name, text in files_of(source):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text.rstrip("\n") + "\n")
        before = failed(root)
        findings = run_checks(Repository(root), only=[check_id]).findings
        diff = suggested(Repository(root), [f for f in findings if f.outcome == "fail"][:1])
        if diff:
            subprocess.run(["git", "apply", "-"], input=diff, text=True, cwd=root, check=True)
            assert failed(root) < before, (source, diff)
            cured += 1
    assert cured >= AT_LEAST[check_id]


def test_it_writes_nothing_and_names_the_file(tmp_path: Path) -> None:
    source = "def train(model, optimizer, loader):\n    for x in loader:\n        model(x).backward()\n        optimizer.step()\n"
    (tmp_path / "train.py").write_text(source)
    diff = suggested(Repository(tmp_path), run_checks(Repository(tmp_path)).findings)
    assert (tmp_path / "train.py").read_text() == source
    assert diff.startswith("--- a/train.py\n+++ b/train.py\n@@")
    assert re.findall(r"^[+-] .*", diff, re.MULTILINE) == ["+        optimizer.zero_grad()"]
