"""The runtime enters interpreters as old as 3.8 and knows nothing but the standard library and torch."""

from __future__ import annotations

import ast
import json
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
    """Ratio to a bare interpreter, least of several: 60 ms would be about four times a bare start."""
    import os
    import time

    config = {"run_folder": str(tmp_path), "root": str(tmp_path), "cwd": str(tmp_path), "experiment": {}}
    probed = {**os.environ, "PYTHONPATH": str(RUNTIME / "site"), "TRAINSLEUTH_CONFIG": json.dumps(config)}

    def start(environment: dict[str, str]) -> float:
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", ""], env=environment, check=True)
        return time.perf_counter() - began

    extra = min(start(probed) for _ in range(7)) - min(start(dict(os.environ)) for _ in range(7))
    assert extra < 0.06
