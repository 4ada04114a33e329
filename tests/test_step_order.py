"""The order of one step as it is told: each operation once, where it stands in the loop."""

from __future__ import annotations

import pytest
from trainsleuth import step_order
from trainsleuth.trace import Trace

PER_BATCH = "batch forward backward step schedule"


@pytest.mark.parametrize(
    ("loop", "told"),
    [
        (PER_BATCH, "batch > forward > backward > step > schedule"),
        ("batch forward backward step zero_grad", "batch > forward > backward > step > zero_grad"),
        ("batch zero_grad forward backward step", "batch > zero_grad > forward > backward > step"),
        ("zero_grad forward backward step", "zero_grad > forward > backward > step"),
        ("zero_grad forward backward step schedule", "zero_grad > forward > backward > step > schedule"),
        ("batch forward backward batch forward backward step zero_grad", "(batch > forward > backward) x2 > step > zero_grad"),
    ],
)  # fmt: skip
def test_what_stands_between_two_steps_is_told_once(loop: str, told: str) -> None:
    ops = [{"kind": "op", "op": name, "optimizer": 0, "n": n} for n in range(5) for name in loop.split()]
    assert step_order.told(Trace(1, None, tuple(ops))) == told


def test_a_step_that_nothing_follows_keeps_what_comes_before_it() -> None:
    ops = [{"kind": "op", "op": name, "optimizer": 0} for name in PER_BATCH.split() * 2][:-1]
    assert step_order.told(Trace(1, None, tuple(ops))) == "schedule > batch > forward > backward > step"
