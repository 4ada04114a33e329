"""The rule of parameter_table about depth: gradients that hardly reach the first layers of a module."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from trainsleuth.finding import Finding
from trainsleuth.trace import Trace

from ._parameters import Row, Table, fail

NEEDED_WEIGHTS = 6
LEAST_SHARE = 1e-5  # of the last third's; eighteen healthy modules of three to 34 weights had 0.06 to 4


def vanishing(trace: Trace, table: Table) -> Iterator[Finding]:
    """In the first third of the weights of a trained module no gradient is more than a trace of those in the last."""
    for root in sorted(table.trained_roots):
        rows = [row for row in table.rows if row.root == root and _is_weight(row)]
        third = len(rows) // 3
        if len(rows) < NEEDED_WEIGHTS:
            continue
        first, last = _largest(rows[:third]), _largest(rows[-third:])
        if any(row.zeros for row in rows[:third]) or not first < LEAST_SHARE * last:
            continue  # exactly zero at first: a layer behind them starts at zero, and lets more through with each step
        step = next(op for op in trace.ops("step"))
        yield fail(
            step.get("site"),
            f"the gradients of the first {third} of {len(rows)} weights of {table.roots[root]} ({rows[0].name} and on) are {first / last:.1e} "
            f"of those of the last {third} (root mean square {first:.1e} against {last:.1e}), so they hardly learn; expected a hundredth or "
            "more",
            "bad-initialisation-scale",
            "capacity",
            severity="warning",
            confidence="medium",
            measured={"share": first / last, "first": first, "last": last, "weights": len(rows)},
            next="put a norm or a residual connection between the layers, or another activation than sigmoid and tanh",
            claims=("norm-inside-residual", "he-init-relu"),
        )


def _is_weight(row: Row) -> bool:
    is_told = row.trainable and row.gradients > row.zeros and isinstance(row.biggest, float)
    return is_told and (row.name or "").rpartition(".")[2] == "weight"


def _largest(rows: Sequence[Row]) -> float:
    """Root mean square of the elements of the largest gradient that was seen."""
    return max(float(row.biggest) / math.sqrt(row.elements) for row in rows)
