"""Triage of every twin under tests/runs: the cause comes first for the broken one, nothing for the healthy one.

The whole way of the command line, in interpreters of its own, is gone by test_targets.py and test_cli.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from twins import HERE, Answer, copied, one_in

pytest.importorskip("torch", reason="the programs train with torch: install the torch extra")

RUNS = HERE / "runs"
CASES = sorted(path.parent.name for path in RUNS.glob("*/case.yaml"))
SECONDS = "60"


@cache
def case(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((RUNS / name / "case.yaml").read_text(encoding="utf-8"))
    return found


def right_places(name: str) -> set[str]:
    """Lines marked `# cause` in the broken program, and the others that its case accepts."""
    broken = RUNS / name / "broken"
    marked = {
        f"{path.relative_to(broken).as_posix()}:{number}"
        for path in broken.rglob("*.py")
        for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if text.rstrip().endswith("# cause")
    }
    return marked | {f"{also['path']}:{also['line']}" for also in case(name)["cause"].get("also_lines", ())}


def test_there_are_twins_and_each_marks_its_cause() -> None:
    assert len(CASES) >= 10
    assert all(right_places(name) for name in CASES)


@pytest.mark.parametrize("name", one_in(9, CASES))
def test_the_cause_of_a_broken_run_is_the_first_finding(name: str, tmp_path: Path, warm: Callable[..., Answer]) -> None:
    folder = copied(RUNS / name / "broken", tmp_path)
    answer = warm("triage", "--format", "json", "--time", SECONDS, "--", *case(name)["command"], cwd=folder)
    assert answer.code == 1, answer.output + answer.errors
    first = answer.json["findings"][0]
    assert first["by"] in case(name)["cause"]["by"], first
    assert f"{first['path']}:{first['line']}" in right_places(name), first


@pytest.mark.parametrize("name", one_in(12, CASES))
def test_a_healthy_run_raises_no_alarm(name: str, tmp_path: Path, warm: Callable[..., Answer]) -> None:
    folder = copied(RUNS / name / "healthy", tmp_path)
    answer = warm("triage", "--format", "json", "--time", SECONDS, "--", *case(name)["command"], cwd=folder)
    alarms = [f for f in answer.json["findings"] if f["outcome"] == "fail" and f["severity"] != "note"]
    assert not alarms, alarms
    assert answer.code == 0, answer.output + answer.errors


@pytest.mark.twins
@pytest.mark.parametrize(("kind", "code"), [("broken", 1), ("healthy", 0)])
@pytest.mark.parametrize("name", CASES)
def test_a_preflight_lets_the_healthy_one_go(name: str, kind: str, code: int, tmp_path: Path, warm: Callable[..., Answer]) -> None:  # fmt: skip
    folder = copied(RUNS / name / kind, tmp_path)
    answer = warm("preflight", "--time", SECONDS, "--", *case(name)["command"], cwd=folder)
    assert answer.code == code, answer.output + answer.errors
