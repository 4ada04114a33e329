"""What a loop goes over, by the names that it binds and reads: the steps of an epoch are no epochs."""

from __future__ import annotations

from pathlib import Path

import map_depth
import pytest
from trainsleuth.facts import build_index
from trainsleuth.map import expand_component
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
        ("for steps_per_epoch, batch in enumerate(pairs)", "batch"),
    ],
)
def test_what_a_loop_goes_over(tmp_path: Path, loop: str, told: str) -> None:
    (tmp_path / "train.py").write_text(f"def train(self, args):\n    {loop}:\n        pass\n")
    [one] = build_index(Repository(tmp_path)).files["train.py"].functions["train"].loops
    assert goes_over(one) == told


TRAIN = """import torch


def main(examples, epochs=10):
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=5)
    BEFORE
    for epoch in range(epochs):
        for x, y in examples:
            loss = torch.nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            STEP
        AFTER


if __name__ == "__main__":
    main([])
"""
STEP = "scheduler.step()"


def stepped(root: Path, **parts: str) -> str:
    text = TRAIN
    for name in ("BEFORE", "STEP", "AFTER"):
        text = text.replace(name, parts.get(name.lower(), "pass"))
    map_depth.write({"train.py": text}, root)
    sheet = expand_component(root, "run", budget=2000).text
    return next(line for line in sheet.splitlines() if "scheduler.step()" in line)


def test_a_loop_that_holds_the_training_step_goes_over_batches(tmp_path: Path) -> None:
    assert stepped(tmp_path, step=STEP).endswith("each batch")


def test_the_loop_around_it_is_that_of_epochs(tmp_path: Path) -> None:
    assert stepped(tmp_path, after=STEP).endswith("each epoch, after its batches")


def test_a_schedule_that_is_wound_forward_is_not_stepped_in_training(tmp_path: Path) -> None:
    assert "each" not in stepped(tmp_path, before=f"for _ in range(epochs // 2):\n        {STEP}")
