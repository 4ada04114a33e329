"""What a loop goes over, by the names that it binds and reads: the steps of an epoch are no epochs."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.facts import build_index
from trainsleuth.map.expansion.run_sheet.pace import goes_over
from trainsleuth.repository import Repository


@pytest.mark.parametrize(
    ("loop", "told"),
    [
        ("for cur_it in range(total_it_each_epoch)", "step"),
        ("for i in range(steps_per_epoch)", "step"),
        ("for i in range(self.len_epoch)", "step"),
        ("for i in range(iters_per_epoch)", "step"),
        ("for epoch in range(epochs)", "epoch"),
        ("for e in range(args.num_epochs)", "epoch"),
        ("for item in items", ""),
        ("for x, y in train_loader", "batch"),
    ],
)
def test_what_a_loop_goes_over(tmp_path: Path, loop: str, told: str) -> None:
    (tmp_path / "train.py").write_text(f"def train(self, args):\n    {loop}:\n        pass\n")
    [one] = build_index(Repository(tmp_path)).files["train.py"].functions["train"].loops
    assert goes_over(one) == told
