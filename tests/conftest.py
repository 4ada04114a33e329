"""Fixtures for tests that start real commands."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from launching import Project, runtime_with_hooks
from probed import Host
from training_python import TRAINING_PYTHON
from trainsleuth.checks import _record
from trainsleuth.cli import main
from trainsleuth.launcher import conduct, environment
from twins import Answer

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


@pytest.fixture(scope="session")
def host() -> Iterator[Host]:
    """One process with torch for all tests of this worker."""
    host = Host()
    yield host
    host.end()


@pytest.fixture
def forked(host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that this process launches are forked from the host.

    All is real but their start: no interpreter of its own, no supervisor, a copy instead of an overlay.
    """
    monkeypatch.setenv("TRAINSLEUTH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("PATH", f"{Path(TRAINING_PYTHON).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(conduct, "supervise", host.supervise)


@pytest.fixture
def warm(forked: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """The command line within this process, `warm(*words, cwd=folder)`; what it runs is forked."""

    def command(*words: str, cwd: Path) -> Answer:
        monkeypatch.chdir(cwd)
        capsys.readouterr()
        code = main(list(words))
        return Answer(code, *capsys.readouterr())

    return command


@pytest.fixture
def right_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    """The forms whose reasons to accuse or to ask are tested speak, whatever their record says today."""
    told = {
        "clip-without-unscale": ("",),
        "dropout-without-training": ("rated", "evaluated"),
        "eval-not-restored": ("modal", "other"),
        "plain-list-submodules": ("layers",),
        "misplaced-clipping": ("before-backward",),
        "missing-zero-grad": ("near", "called", "before", "others"),
        "scheduler-before-optimizer": ("",),
        "text-as-boolean": ("given",),
    }
    good = {check: {"sites": 0, "reports": {form: {"right": 9} for form in forms}} for check, forms in told.items()}
    figures = {**_record._figures(), **good}
    monkeypatch.setattr(_record, "_figures", lambda: figures)
