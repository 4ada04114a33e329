"""Rules of parameter_table about copies: of a whole model, and of weights that were to be shared."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding

from ._parameters import Row, Table, fail

NEEDED_STEPS_FOR_COPIES = 100


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
        )
