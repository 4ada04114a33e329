"""A small, seeded slice of evidence/fuzz.py: broken source neither stops nor hangs the search beside it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

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
