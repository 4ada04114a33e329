"""The twin programs under tests/runs do what their case.yaml says, whoever looks for the fault.

A case is a healthy program and the same program with one silent fault. Its case.yaml holds
`command` (run inside healthy/ or broken/), `domain`, `fault`, `cause` (the file with the lines that end
in "# cause", the ids of checks and probes that may find it, and other lines that are right to
point at), `learns` (the healthy run's last value is at most this share of its first) and `worse`
(the broken run's last value is higher or lower than the healthy one's by at least this much, or not finite).
"""

from __future__ import annotations

import difflib
import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

RUNS = Path(__file__).parent / "runs"
CASES = sorted(path.parent.name for path in RUNS.glob("*/case.yaml"))
MARK = "  # cause"


def load(case: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((RUNS / case / "case.yaml").read_text())
    return loaded


def sources(folder: Path) -> dict[str, list[str]]:
    """Relative path -> lines, of everything that is not a by-product of running."""
    return {
        path.relative_to(folder).as_posix(): path.read_text().splitlines()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def changed(before: list[str], after: list[str]) -> int:
    """Lines that differ, a replaced line counted once."""
    plain = [line.removesuffix(MARK) for line in after]
    codes = difflib.SequenceMatcher(None, before, plain, autojunk=False).get_opcodes()
    return sum(max(i2 - i1, j2 - j1) for tag, i1, i2, j1, j2 in codes if tag != "equal")


def start(case: str, twin: str, folder: Path) -> subprocess.Popen[str]:
    shutil.copytree(RUNS / case / twin, folder, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable if word == "python" else word for word in load(case)["command"]]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=pipe, stderr=pipe, text=True)


def values(printed: str, what: Mapping[str, Any]) -> list[float]:
    return [float(match) for match in re.findall(what["pattern"], printed)]


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 16


@pytest.mark.parametrize("case", CASES)
def test_twins_differ_only_by_the_marked_fault(case: str) -> None:
    cause = load(case)["cause"]
    healthy, broken = (sources(RUNS / case / twin) for twin in ("healthy", "broken"))
    assert healthy.keys() == broken.keys()
    assert 1 <= sum(changed(healthy[path], broken[path]) for path in healthy) <= 4
    marked = {path for path, lines in broken.items() if any(line.endswith(MARK) for line in lines)}
    assert marked == {cause["path"]}
    assert not any(MARK in line for lines in healthy.values() for line in lines)
    assert cause["by"] and all(re.fullmatch(r"(check|probe):[a-z_-]+", name) for name in cause["by"])
    for also in cause.get("also_lines", ()):
        assert also["text"] in broken[also["path"]][also["line"] - 1]


@pytest.mark.timeout(120)
@pytest.mark.twins
@pytest.mark.parametrize("case", CASES)
def test_healthy_twin_learns_and_broken_twin_is_silently_worse(case: str, tmp_path: Path) -> None:
    spec = load(case)
    started = {twin: start(case, twin, tmp_path / twin) for twin in ("healthy", "broken")}
    printed = {}
    for twin, process in started.items():
        printed[twin], errors = process.communicate(timeout=100)
        assert process.returncode == 0, f"{case}/{twin} must not crash:\n{errors}"

    losses = values(printed["healthy"], spec["learns"])
    assert len(losses) >= 4 and all(map(math.isfinite, losses))
    assert losses[-1] <= spec["learns"]["at_most"] * losses[0]

    good, bad = (values(printed[twin], spec["worse"])[-1] for twin in ("healthy", "broken"))
    gap = bad - good if spec["worse"]["than"] == "higher" else good - bad
    assert not math.isfinite(bad) or gap >= spec["worse"]["by"]
