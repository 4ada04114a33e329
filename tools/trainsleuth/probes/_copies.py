"""Rules of parameter_table about copies: of a whole model, and of weights that were to be shared."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding
from trainsleuth.trace import Event, Trace, shown

from ._parameters import Row, Table, fail

NEEDED_STEPS_FOR_COPIES = 100
NEEDED_STEPS_BETWEEN = 10  # from the first evaluation of a copy to its last
SELDOM = 0.5  # calls per step: a teacher or a target network is called at every one


def left_behind(table: Table) -> list[Finding]:
    """A module with the names and sizes of a trained one that is in no optimizer and never changes."""
    if table.steps < NEEDED_STEPS_FOR_COPIES:
        return []
    by_root: dict[int, list[Row]] = {}
    for row in table.rows:
        if row.root is not None:
            by_root.setdefault(row.root, []).append(row)
    shapes = {root: [(r.name, r.elements) for r in rows] for root, rows in by_root.items()}
    trained = [shapes[root] for root in table.trained_roots]
    return [
        fail(
            None,
            f"{table.roots[root]} has the {len(rows)} parameters of the trained model, is called, and none of its own changed over "
            f"{table.steps} steps: a target or average of the weights would have moved by now, a fixed teacher would not",
            "another-loop-fault",
            severity="note",
            confidence="low",
            measured={"parameters": len(rows), "steps": table.steps},
            next="if it is meant to follow the model, look for the line that updates it and whether it runs",
        )
        for root, rows in by_root.items()
        if root not in table.trained_roots and shapes[root] in trained and not any(r.changed for r in rows)
    ]


def evaluated(trace: Trace, table: Table) -> list[Finding]:
    """Evaluation never sees the trained model, only a module of its shape that stays as it was made."""
    phases: dict[int, list[Event]] = {}
    for phase in trace.events("phase"):
        phases.setdefault(phase["root"], []).append(phase)
    shapes = {root: [(row.name, row.elements) for row in rows] for root, rows in _by_root(table).items()}
    trained = [root for root in table.trained_roots if not _evaluations(phases.get(table.numbers[root], []))]
    found = []
    for root, rows in _by_root(table).items():
        twin = next((one for one in trained if shapes[one] == shapes[root] and root not in table.trained_roots), None)
        seen = _evaluations(phases.get(table.numbers[root], []))
        if twin is None or any(row.changed for row in rows) or not any(row.changed for row in _by_root(table)[twin]):
            continue
        calls, steps = sum(phase["calls"] for phase in seen), _until(seen) - (seen[0]["n"] if seen else 0)
        if steps < NEEDED_STEPS_BETWEEN or (calls > SELDOM * steps and _shares_loader(trace, seen)):
            continue
        found.append(
            fail(
                seen[0].get("site"),
                f"what is evaluated at {shown(seen[0])} is a copy of the trained {table.roots[root]}: it has its {len(rows)} parameters, "
                f"none of them changed over {table.steps} steps, and the trained one is never called without gradients; expected the "
                "trained model there, or a copy that follows it",
                "another-loop-fault",
                severity="warning",
                confidence="medium",
                measured={"parameters": len(rows), "calls": calls, "steps": table.steps},
                next="evaluate the trained model itself, or look for the line that should update the copy",
            )
        )
    return found


def _by_root(table: Table) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = {}
    for row in table.rows:
        if row.root is not None:
            found.setdefault(row.root, []).append(row)
    return found


def _evaluations(phases: list[Event]) -> list[Event]:
    return [phase for phase in phases if not phase["grad"] and not phase["backwards"]]


def _until(phases: list[Event]) -> int:
    return max((int(phase["until"]) for phase in phases), default=0)


def _shares_loader(trace: Trace, phases: list[Event]) -> bool:
    """Is it called on the batches that are trained on?"""
    training = {phase["loader"] for phase in trace.events("phase") if phase["backwards"]}
    return any(phase["loader"] in training for phase in phases)


def untied(table: Table) -> Iterator[Finding]:
    """An embedding and an output layer began as equal copies and were trained apart."""
    rows = {row.name: row for row in table.rows if row.name}
    for name, cls, other, other_cls in table.twins:
        pair = [rows.get(name), rows.get(other)]
        if {cls, other_cls} != {"Embedding", "Linear"} or any(row is None or not row.changed for row in pair):
            continue
        yield fail(
            None,
            f"{name} and {other} began as equal copies of {pair[0].elements if pair[0] else 0} values and were trained as two tensors: "
            "their values were copied where sharing them was meant; expected one parameter under both names",
            "tied-weights-apart",
            severity="warning",
            confidence="medium",
            measured={"elements": pair[0].elements if pair[0] else 0, "steps": table.steps},
            next="assign the parameter itself (head.weight = embedding.weight), after everything that makes new tensors",
            claims=(),
        )
