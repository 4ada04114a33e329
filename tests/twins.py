"""Running trainsleuth on the bundled twins the way a user would."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from training_python import TRAINING_PYTHON

HERE = Path(__file__).parent
ROOT = HERE.parent
NOTES = "trainsleuth-notes.md"


@dataclass(frozen=True)
class Answer:
    """What one command line said."""

    code: int
    output: str
    errors: str

    @property
    def json(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self.output)
        return answer


def trainsleuth(*words: str, cwd: Path, seconds: float = 200) -> Answer:
    """The command line, with the Python for training first on PATH so that `python` means it."""
    env = dict(os.environ, OMP_NUM_THREADS="1", PATH=f"{Path(TRAINING_PYTHON).parent}{os.pathsep}{os.environ['PATH']}")
    env["PYTHONPATH"] = os.pathsep.join([str(ROOT / "tools"), str(ROOT / "server")])
    done = subprocess.run(
        [sys.executable, "-P" if sys.version_info >= (3, 11) else "-B", "-m", "trainsleuth", *words],
        cwd=cwd, env=env, capture_output=True, text=True, timeout=seconds, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return Answer(done.returncode, done.stdout, done.stderr)


def one_in(every: int, cases: Iterable[object], first: int = 0) -> list[object]:
    """All cases; all but one in `every` of them, from `first` on, are among what takes longer (make twins)."""
    return [
        case
        if place % every == first
        else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.twins)
        for place, case in enumerate(cases)
    ]


def copied(folder: Path, into: Path) -> Path:
    """A copy that a run may see but the checkout keeps clean of."""
    target = into / folder.name
    shutil.copytree(folder, target, ignore=shutil.ignore_patterns("__pycache__"))
    return target


def tree_hash(folder: Path) -> str:
    """Names, kinds, modes and contents of everything below `folder`, the notes file aside."""
    digest = hashlib.blake2b()
    for path in sorted(folder.rglob("*")):
        if path.name == NOTES:
            continue
        stat = path.lstat()
        digest.update(f"{path.relative_to(folder)}\0{stat.st_mode}\0".encode("utf-8", "surrogateescape"))
        digest.update(path.read_bytes() if path.is_file() and not path.is_symlink() else b"")
    return digest.hexdigest()
