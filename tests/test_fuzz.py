"""A small, seeded slice of evidence/fuzz.py: broken source neither stops nor hangs the search beside it."""

from __future__ import annotations

import importlib.util
import time
from pathlib import Path

import pytest
from trainsleuth.checks import run_checks
from trainsleuth.repository import Repository

ROOT = Path(__file__).parents[1]
_spec = importlib.util.spec_from_file_location("fuzz", ROOT / "evidence" / "fuzz.py")
assert _spec is not None
assert _spec.loader is not None
fuzz = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(fuzz)
SEEDS = [path.read_bytes() for path in sorted((ROOT / "tests" / "runs").rglob("*.py"))]


@pytest.mark.parametrize("seed", [1, 2])
def test_a_bug_is_found_among_broken_files(seed: int) -> None:
    batch = fuzz.run_batch(SEEDS, 60, seed, with_map=True)
    assert batch.is_found
    assert batch.slowest < 3 * fuzz.LIMIT  # CPU time, on a machine that may be busy


@pytest.mark.parametrize("word", [b"a", b"a."])
def test_a_long_line_beside_an_alarm_is_looked_through_once(tmp_path: Path, word: bytes) -> None:
    (tmp_path / "known.py").write_text(fuzz.BUG)
    started_by = "if __name__ == '__main__':\n    train(torch.nn.Linear(2, 2), torch.rand(4, 3, 2))\n"
    (tmp_path / "main.py").write_text(f"import torch\nfrom known import train\n\n{started_by}")
    (tmp_path / "long.py").write_bytes(b"x = 0  # " + word * (300_000 // len(word)))
    started = time.process_time()
    report = run_checks(Repository(tmp_path))
    assert "known.py:7" in {finding.place for finding in report.findings if finding.outcome == "fail"}
    assert time.process_time() - started < 3 * fuzz.LIMIT
