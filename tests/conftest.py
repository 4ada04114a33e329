"""Fixtures for tests that start real commands."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from launching import Project, runtime_with_hooks
from trainsleuth.launcher import environment

os.environ["TRAINSLEUTH_CACHE"] = "off"  # tests of the cache say where theirs is


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """An empty project, a runtime with small hooks, and a home for runs, all of this test alone."""
    folder = tmp_path / "project"
    folder.mkdir()
    home = tmp_path / "home"
    monkeypatch.setenv("TRAINSLEUTH_HOME", str(home))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setattr(environment, "RUNTIME", runtime_with_hooks(tmp_path))
    return Project(folder, home)
