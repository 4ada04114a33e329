"""Odd and healthy source that once ended a search: every check goes over it."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.checks import run_checks
from trainsleuth.repository import Repository

TABLE = ", ".join(f"'{number}': model.state_dict" for number in range(300))
LONG = f"import torch\n\ndef save(model):\n    torch.save({{{TABLE}}}, 'table.pt')\n"
ZEROS = "0, " * 300
BEHIND = f"""
import torch
from torch.nn.utils.rnn import pack_padded_sequence

def read(model, x, lengths):
    order = lengths.argsort()
    held = [{ZEROS}pack_padded_sequence(x[order], lengths)]
    return model(held[-1])
"""


@pytest.mark.parametrize("source", [LONG, BEHIND], ids=["a table longer than is kept", "a call behind what is kept"])
def test_the_search_goes_on(source: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(source)
    assert run_checks(Repository(tmp_path)).read(["train.py"]) == ("train.py",)
