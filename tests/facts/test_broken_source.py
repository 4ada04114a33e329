"""Of broken source a pair, an operation or a choice has its operands, or is no such thing: checks take them apart without asking."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.checks import run_checks
from trainsleuth.facts import build_index
from trainsleuth.repository import Repository

OPERANDS = {"pair": 2, "binary": 2, "unary": 1, "choice": 3}
BROKEN = (
    'x = {"a" $ : 1, "b": 2}',
    'x = {"a": 1 "b": 2}',
    'x = {"k": @ v}',
    "x = a - $ b",
    "x = a - ! b - c",
    "x = a if b ! else c",
    "x = a if b c else d",
)


@pytest.mark.parametrize("line", BROKEN)
def test_parts_are_as_many_as_their_kind_has(line: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(f"import torch\n\n\ndef train(model):\n    {line}\n    return x\n")
    index = build_index(Repository(tmp_path), tests=False)
    events = [event for one in index.files["train.py"].functions.values() for event in one.events]
    parts = [part for event in events if event.value is not None for part in event.value.walk()]
    assert parts
    assert all(len(part.parts) == OPERANDS.get(part.kind, len(part.parts)) for part in parts)
    assert run_checks(Repository(tmp_path)).findings is not None
