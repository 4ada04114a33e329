"""Rule of parameter_table: a part of a trained module is held by no optimizer that steps, only by one that does not."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding, Link
from trainsleuth.trace import Trace, place, shown

from ._parameters import NEEDED_READINGS, Row, Table, fail, names

NEEDED_STEPS = 20


def waits(trace: Trace, table: Table) -> Iterator[Finding]:
    """It gets gradients and stays as it is. The other may step later, after a first phase, so this asks."""
    if table.steps < NEEDED_STEPS or trace.ops("scaler_step"):
        return
    for born in trace.events("optimizer"):
        number = born["optimizer"]
        held = [] if number in trace.stepping else [row for row in table.of(number) if _stands(row, table)]
        stepping = trace.optimizer(trace.stepping[0])
        if not held:
            continue
        path, line = place(stepping.get("site"))
        ended = trace.ended_by_itself and not trace.events("cut")  # else its turn may not have come
        yield fail(
            stepping.get("site"),
            f"{len(held)} parameters ({names(held)}) get gradients and stay as they are over {table.steps} steps: {stepping.get('cls')} built "
            f"at {shown(stepping)}, which steps, does not hold them, and {born.get('cls')} built at {shown(born)}, which does, "
            + ("never stepped: is it to, in a longer run?" if ended else "has not stepped: is it to step later, and are they to wait?"),
            "optimizer-misses-parameters",
            severity="note",
            confidence="medium" if ended else "low",
            chain=(Link(path, line, "builds the optimizer that steps"),) if path and line else (),
            measured={"parameters": len(held), "steps": table.steps},
            next="build the optimizer that steps over them too, or call step() of the other",
            claims=("updates-not-applied",),
        )  # fmt: skip


def _stands(row: Row, table: Table) -> bool:
    """While other parameters of the same module move."""
    if row.changed or not row.trainable or row.root is None:
        return False
    if row.seen < NEEDED_READINGS or row.gradients - row.zeros < NEEDED_READINGS:
        return False
    return any(other.changed for other in table.rows if other.root == row.root)
