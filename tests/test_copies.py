"""One fault in several copies of the same lines is one problem, with the places of the others."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from trainsleuth.cli import main
from trainsleuth.copies import folded
from trainsleuth.finding import Finding
from trainsleuth.repository import Repository

pytestmark = pytest.mark.usefixtures("right_so_far")

LOOP = """\
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        model(x).mean().backward()
        optimizer.step()
"""
OTHER = LOOP.replace("model(x).mean()", "model(x).sum()")


def told(root: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["check", str(root), *words]) == 1
    return capsys.readouterr().out


def test_copies_are_one_problem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.py").write_text(("\n" * ord(name)) + LOOP)
    failed = [f for f in json.loads(told(tmp_path, capsys, "--format", "json"))["findings"] if f["outcome"] == "fail"]
    (one,) = failed
    assert one["path"] == "a.py"
    assert one["copies"] == [f"{name}.py:{ord(name) + one['line'] - ord('a')}" for name in ("b", "c")]
    text = told(tmp_path, capsys)
    assert "1 problem found" in text and f"the same lines: {', '.join(one['copies'])}" in text


def test_other_lines_are_another_problem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.py").write_text(LOOP)
    (tmp_path / "b.py").write_text(OTHER)
    assert "2 problems found" in told(tmp_path, capsys)


def test_many_copies_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(12):
        (tmp_path / f"lesson_{number:02}.py").write_text(LOOP)
    assert "lesson_08.py:7 and 3 more" in told(tmp_path, capsys)


def test_each_copy_is_annotated_and_accepted_by_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.py").write_text(LOOP)
    (tmp_path / "b.py").write_text(LOOP)
    assert told(tmp_path, capsys, "--format", "github").count("::error") == 2
    (tmp_path / "a.py").write_text(LOOP.rstrip("\n") + "  # trainsleuth: ignore[missing-zero-grad] the sum is meant\n")
    (one,) = [f for f in json.loads(told(tmp_path, capsys, "--format", "json"))["findings"] if f["outcome"] == "fail"]
    assert (one["path"], one["copies"]) == ("b.py", [])


def test_two_failures_at_one_place_are_no_copies(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(LOOP)
    one = Finding("check:x", "fail", "first", "error", path="a.py", line=7)
    other = replace(one, message="second")
    assert folded(Repository(tmp_path), [one, other]) == (one, other)
