"""The runtime enters interpreters as old as 3.8 and knows nothing but the standard library and torch."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from trainsleuth.launcher.environment import RUNTIME

FILES = sorted(RUNTIME.rglob("*.py"))
OLD = sorted(Path.home().glob(".pyenv/versions/3.8.*/bin/python"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_parses_on_3_8(path: Path) -> None:
    ast.parse(path.read_text(), str(path), feature_version=(3, 8))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_imports_only_the_standard_library_and_torch(path: Path) -> None:
    tree = ast.parse(path.read_text())
    absolute = [name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names]
    absolute += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level]
    assert {name.partition(".")[0] for name in absolute} <= {*sys.stdlib_module_names, "torch"}


@pytest.mark.skipif(not OLD, reason="no Python 3.8 on this machine")
def test_runs_on_3_8(tmp_path: Path) -> None:
    config = {"run_folder": str(tmp_path), "root": str(tmp_path), "cwd": str(tmp_path), "experiment": {}}
    environment = {"PYTHONPATH": str(RUNTIME / "site"), "TRAINSLEUTH_CONFIG": json.dumps(config)}
    subprocess.run([OLD[-1], "-c", "print(1)"], env=environment, check=True, timeout=60)
    events = [json.loads(line) for path in tmp_path.glob("events-*") for line in path.read_text().splitlines()]
    assert [event["kind"] for event in events] == ["hello", "exit"]
    assert events[0]["python"].startswith("3.8.")


def test_starting_it_is_cheap(tmp_path: Path) -> None:
    """Processor time above that of a bare interpreter, least of several in turn: at most 60 ms."""
    config = {"run_folder": str(tmp_path), "root": str(tmp_path), "cwd": str(tmp_path), "experiment": {}}
    own = {"PYTHONPATH": str(RUNTIME / "site"), "TRAINSLEUTH_CONFIG": json.dumps(config)}

    def spent(environment: dict[str, str]) -> float:
        process = subprocess.Popen([sys.executable, "-c", ""], env={**os.environ, **environment})
        _, process.returncode, used = os.wait4(process.pid, 0)
        return used.ru_utime + used.ru_stime

    pairs = [(spent({}), spent(own)) for _ in range(9)]
    assert min(with_us for _, with_us in pairs) - min(without for without, _ in pairs) < 0.06
