"""A few of the random kills of evidence/kills; 200 of them are run by hand."""

from __future__ import annotations

import importlib
import random
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the program trains with torch: install the torch extra")
sys.path.insert(0, str(Path(__file__).parents[1] / "evidence" / "kills"))

kills: Any = importlib.import_module("kills")

SEED = 11
LASTS = 6.0  # seconds that a probe takes about, from its start to its answer


@pytest.mark.twins
@pytest.mark.parametrize("number", range(6))
def test_a_random_kill_leaves_nothing(number: int) -> None:
    drawn = list(kills.rounds(6, SEED))[number]
    outcome = kills.play(replace(drawn, shape=list(kills.SHAPES)[number % 3]), LASTS, random.Random(number))
    assert not outcome.wrong, (drawn, outcome)
