"""Two runs that should train the same: rounding is told from a difference, and a difference by where it begins."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from trainsleuth.comparing import Comparison, side_by_side, verdict
from twins import Answer, one_in, trainsleuth

NAMES = {"update": "float32", "parameters": "after the step"}
KINDS = ("start", "input", "layer", "loss", "gradient", "update", "parameters")


def events(steps: int = 3, seed: int = 0, change: Callable[[int, list[Any]], list[Any] | None] = lambda _, row: row) -> list[dict[str, Any]]:  # fmt: skip
    """Steps of a run in which `change(step, row)` makes each row what it is, None for one that is not there."""
    draw = random.Random(seed)
    told = []
    for step in range(steps):
        rows = [
            [kind, NAMES.get(kind, f"{kind}.0"), f"{draw.random()}", 10.0, [draw.gauss(0, 10) for _ in range(8)]]
            for kind in KINDS
        ]
        rows = [row for row in (change(step, row) for row in rows) if row is not None]
        told.append({"n": step, "rows": rows})
    return told


def moved(kind: str, step: int, by: float, times: float = 1.0) -> Callable[[int, list[Any]], list[Any]]:
    """From that step on another value of this kind, and of what comes behind it."""

    def change(now: int, row: list[Any]) -> list[Any]:
        if (now, KINDS.index(row[0])) < (step, KINDS.index(kind)):
            return row
        return [*row[:2], f"{row[2]}*", row[3] * times, [mark + by * row[3] for mark in row[4]]]

    return change


def test_the_same_to_the_last_bit() -> None:
    found = side_by_side(events(), events())
    assert (found.steps, found.same, found.near, found.parted) == (3, 21, 0, None)
    assert verdict(found).outcome == "pass" and "to the last bit" in verdict(found).message


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", [0, 2])
def test_the_first_difference_is_named(kind: str, step: int) -> None:
    found = side_by_side(events(), events(change=moved(kind, step, 0.3)))
    assert found.parted is not None and (found.parted.kind, found.parted.step) == (kind, step)
    assert found.parted.apart == pytest.approx(0.3) and found.near == 0
    assert verdict(found).severity == "error" and f"part at step {step}" in verdict(found).message


def test_rounding_is_no_difference_but_its_first_place_is_told() -> None:
    found = side_by_side(events(), events(change=moved("gradient", 1, 1e-6)))
    assert found.parted is None and found.near == 10
    assert found.first is not None and (found.first.kind, found.first.step) == ("gradient", 1)
    assert (
        verdict(found).outcome == "pass"
        and "the first that is not is the gradient of gradient.0 at step 1" in verdict(found).message
    )


def test_a_whole_number_of_times_is_told() -> None:
    found = side_by_side(events(), events(change=moved("gradient", 0, 0.5, times=4.0)))
    assert ", the second 4 times as large" in verdict(found).message


def test_runs_with_another_number_of_batches_are_compared_by_what_both_have() -> None:
    def twice(told: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{"n": one["n"], "rows": [*(r for r in one["rows"] if r[0] in ("input", "layer", "loss")), *one["rows"]]} for one in told]  # fmt: skip

    found = side_by_side(events(), twice(events()))
    assert found.parted is None and found.left_out == ("input", "layer", "loss") and found.same == 12


def test_names_of_wrappers_are_none() -> None:
    wrapped = events(change=lambda _, row: [row[0], f"module.{row[1]}", *row[2:]])
    assert side_by_side(events(), wrapped).same == 21


@pytest.mark.parametrize("times", [0.0, 2.0])
def test_an_update_of_another_size_is_none_of_rounding(times: float) -> None:
    """However small it is beside the parameters."""

    def small(_: int, row: list[Any]) -> list[Any]:
        return [*row[:3], 1e-9, row[4]] if row[0] == "update" else row

    def other(_: int, row: list[Any]) -> list[Any]:
        return [*row[:2], f"{row[2]}*", 1e-9 * times, row[4]] if row[0] == "update" else row

    found = side_by_side(events(change=small), events(change=other))
    assert found.parted is not None and found.parted.kind == "update"


def test_what_has_no_code_counts_by_its_marks() -> None:
    sparse = events(change=lambda _, row: [row[0], row[1], "?", row[3], row[4]])
    other = events(change=lambda _, row: [row[0], row[1], "?", 2 * row[3], [2 * mark for mark in row[4]]])
    found = side_by_side(sparse, other)
    assert found.same == 0 and found.parted is not None and found.parted.apart == pytest.approx(0.5, abs=0.6)


@pytest.mark.parametrize("found", [Comparison(), Comparison(steps=2)])
def test_nothing_in_common_is_open(found: Comparison) -> None:
    assert verdict(found).outcome == "open"


PROGRAM = """
import sys
import torch
from torch import nn

batch, accumulate, divide = map(int, sys.argv[1:4])
torch.manual_seed(0)
inputs = torch.randn(512, 8)
labels = (inputs[:, 0] > 0).long()
model = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
place = 0
for step in range(20):
    optimizer.zero_grad()
    for _ in range(accumulate):
        loss = nn.functional.cross_entropy(model(inputs[place : place + batch]), labels[place : place + batch])
        (loss / divide).backward()
        place += batch
    optimizer.step()
"""
WHOLE = ("python", "train.py", "16", "1", "1")
PAIRS = [
    ("4 4 1", 1, "at step 0 (counted from 0) in the gradient of 0.weight: ", "the second 4 times as large"),
    ("4 4 4", 0, "do the same up to rounding in 12 steps", "not set side by side"),
    ("16 1 1", 0, "do the same in 12 steps", "to the last bit"),
]


@pytest.mark.parametrize(("other", "code", "words", "more"), one_in(3, PAIRS))
def test_accumulation_against_one_large_batch(other: str, code: int, words: str, more: str, warm: Callable[..., Answer], tmp_path: Path) -> None:  # fmt: skip
    pytest.importorskip("torch")
    (tmp_path / "train.py").write_text(PROGRAM)
    answer = warm("compare", "--with", f"python train.py {other}", "--", *WHOLE, cwd=tmp_path)
    assert answer.code == code and words in answer.output and more in answer.output, answer.output


@pytest.mark.twins
def test_another_checkout(warm: Callable[..., Answer], tmp_path: Path) -> None:
    for name, width in (("old", 64), ("new", 32)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.py").write_text(PROGRAM.replace("64", str(width)))
    words = ("--", *WHOLE)
    same = warm("compare", "--in", str(tmp_path / "old"), *words, cwd=tmp_path / "old")
    other = warm("compare", "--in", str(tmp_path / "new"), *words, cwd=tmp_path / "old")
    assert (same.code, other.code) == (0, 1) and "the parameters at the start" in other.output, other.output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "name what to compare with"),
        (("--with", "python 'x"), "No closing quotation"),
        (("--in", "nowhere"), "nowhere is not a folder"),
    ],
)
def test_nothing_to_compare_with_is_said(options: tuple[str, ...], words: str, warm: Callable[..., Answer], tmp_path: Path) -> None:  # fmt: skip
    answer = warm("compare", *options, "--", "python", "train.py", cwd=tmp_path)
    assert answer.code == 2 and words in answer.errors


RANKS = """
import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
torch.manual_seed(0)
inputs = torch.randn(400, 8)
data = TensorDataset(inputs, inputs.sum(1, keepdim=True))
sampler = DistributedSampler(data)
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1)))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
for batch, target in DataLoader(data, 20 // dist.get_world_size(), sampler=sampler):
    loss = nn.functional.mse_loss(model(batch), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.twins
def test_one_rank_against_two(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(RANKS)
    start = "torchrun --nproc-per-node {} train.py"
    answer = trainsleuth("compare", "--with", start.format(2), "--", *start.format(1).split(), cwd=tmp_path)
    assert answer.code == 0 and "the same up to rounding in 12 steps" in answer.output, answer.output
