"""Rules of parameter_table about copies: of a whole model, and of weights that were to be shared."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding, Link
from trainsleuth.trace import Event, Trace, place, shown

from ._parameters import NEEDED_READINGS, Calls, Row, Table, fail, names

NEEDED_STEPS_FOR_COPIES = 100
NEEDED_CALLS = 5  # of each of two modules by one line, and steps between the first and the last of the former


def left_behind(trace: Trace, table: Table) -> Iterator[Finding]:
    """A module with the names and sizes of a trained one that is in no optimizer and never changes.

    With values of its own from the start, and weights that were loaded, it is a fixed teacher.
    """
    if table.steps < NEEDED_STEPS_FOR_COPIES:
        return
    for root in sorted(table.copies - _given_up(table)):
        rows = [row for row in table.rows if row.root == root]
        is_equal = any(root == mine for mine, *_ in table.equal_at_start)
        if any(row.changed for row in rows) or (trace.ops("weights_loaded") and not is_equal):
            continue
        began = "with the same values" if is_equal else "with values of its own"
        yield fail(
            next((calls.site for calls in table.calls if calls.root == root), None),
            f"{table.roots[root]} has the {len(rows)} parameters of the trained model, began {began}, is called, and none of its own "
            f"changed over {table.steps} steps: a target or average of the weights would have moved by now unless it is updated "
            "more seldom, a fixed teacher or reference would not",
            "another-loop-fault",
            severity="note",
            confidence="low",
            measured={"parameters": len(rows), "steps": table.steps, "equal_at_start": int(is_equal)},
            next="if it is meant to follow the model, look for the line that updates it and whether it runs",
        )


def saved_as_it_began(trace: Trace) -> Iterator[Finding]:
    """What is saved after training holds exactly the values from before it; those that were trained are others by then."""
    for event in trace.events("saved_start"):
        if event["n"] < NEEDED_STEPS_FOR_COPIES:
            continue
        what = f"the part {event['keys']!r} of what is saved" if event["keys"] else "what is saved"
        yield fail(
            event["site"],
            f"{what} at {shown(event)} after {event['n']} steps holds exactly the values with which {event['cls']} began (all "
            f"{event['matrices']} matrices that have changed in it since): an average or copy of the weights would have moved by now "
            "unless its updates begin later, weights that are kept from the start would not",
            "another-loop-fault",
            severity="note",
            confidence="low",
            measured={"matrices": event["matrices"], "steps": event["n"]},
            next="if it is meant to follow the model, look for the line that updates it and whether it runs",
        )


def held_still(born: Event, copied: list[Row], table: Table) -> Finding:
    """A copy of a trained part that stays as it was, in an optimizer that was given everything."""
    return fail(
        born.get("site"),
        f"{len(copied)} parameters ({names(copied)}) in {born.get('cls')} built at {shown(born)} began as copies of trained ones, have "
        f"requires_grad=False and never changed over {table.steps} steps: a target network or an average of the weights would have "
        "moved by now unless it is updated more seldom, a fixed teacher would not",
        "another-loop-fault",
        severity="note",
        confidence="low",
        measured={"parameters": len(copied), "steps": table.steps},
        next="if they are meant to follow the model, look for the line that updates them and whether it runs; they need no gradient for that",
    )


def wrong_twin(trace: Trace, table: Table) -> Iterator[Finding]:
    """An optimizer holds a copy that no gradient reaches, and what the gradients reach is in none."""
    for root, number in twins_swapped(trace, table):
        rows = [row for row in table.rows if row.root == root]
        held = table.of(number)
        alike = "sizes" if held[0].root is None else "names and sizes"
        born = trace.optimizer(number)
        site = next((calls.site for calls in table.calls if calls.root == root), None)
        path, line = place(site)
        called = f", called at {path}:{line}" if path and line else ""
        yield fail(
            born.get("site"),
            f"{born.get('cls')} built at {shown(born)} holds {len(held)} parameters that never get a gradient over {table.steps} steps; "
            f"{len(rows)} of the same {alike} ({table.roots[root]}{called}) get gradients, are in no optimizer and never "
            "change: the optimizer was built over the wrong one of two networks; expected it to hold the one that gets gradients",
            "optimizer-misses-parameters",
            chain=(Link(path, line, "calls the one that gets gradients"),) if path and line else (),
            measured={"held_without_gradient": len(held), "left_out": len(rows), "steps": table.steps},
            next="build the optimizer from the parameters of the network whose output the loss is computed from",
            claims=("updates-not-applied",),
        )


def twins_swapped(trace: Trace, table: Table) -> Iterator[tuple[int, int]]:
    """(module that gets gradients and stays as it is, number of the optimizer that holds its twin instead)."""
    idle = {}
    for number in trace.stepping:
        rows = table.of(number)
        if rows and len({row.root for row in rows}) == 1 and all(_is_without_gradient(row) for row in rows):
            idle[number] = rows
    for root in sorted({row.root for row in table.rows if row.root is not None} - table.trained_roots):
        lost = [row for row in table.rows if row.root == root and row.trainable]
        if not lost or any(row.gradients <= row.zeros or row.changed for row in lost):
            continue
        for number, held in idle.items():
            if _are_alike(held, lost, table):
                yield root, number


def _are_alike(held: list[Row], lost: list[Row], table: Table) -> bool:
    """By names and sizes; what is never called has no names, and the optimizer may be over nothing that runs."""
    if held[0].root is not None and lost[0].root is not None:
        return table.shape(held[0].root) == table.shape(lost[0].root)
    is_one_of_several = any(row.called for row in table.rows if row.optimizer is not None)
    return is_one_of_several and [row.elements for row in held] == [row.elements for row in lost]


def _is_without_gradient(row: Row) -> bool:
    return row.seen >= NEEDED_READINGS and not row.gradients


def is_never_reached(rows: list[Row]) -> bool:
    trainable = [row for row in rows if row.trainable]
    return bool(trainable) and all(_is_without_gradient(row) for row in trainable)


def taken_over(table: Table) -> Iterator[Finding]:
    """A line called a copy of the trained model, and from some step on the trained model itself, for good."""
    for copy, trained in _takeovers(table):
        known_as = f" ({' and '.join(trained.names)})" if trained.names else ""
        yield fail(
            trained.site,
            f"{trained.site} calls a copy of the trained {table.roots[trained.root]} up to step {copy.last}, and from step {trained.first} "
            f"on the trained one itself{known_as}, {trained.number} times: two networks have become one, and the former copy "
            "moves with every step; expected it to stay a network of its own, with new values",
            "another-loop-fault",
            severity="warning",
            confidence="medium",
            measured={"from_step": trained.first, "calls": trained.number},
            next="look for an assignment of one network to the name of the other; to update a copy use "
            "target.load_state_dict(online.state_dict()), or copy.deepcopy",
        )


def _given_up(table: Table) -> frozenset[int]:
    return frozenset(copy.root for copy, _ in _takeovers(table))


def _takeovers(table: Table) -> Iterator[tuple[Calls, Calls]]:
    """(calls of the copy, later calls of the trained model) by one line; the copy is called nowhere afterwards."""
    for copy in table.calls:
        if copy.root not in table.copies or copy.last - copy.first < NEEDED_CALLS or copy.number < NEEDED_CALLS:
            continue  # an evaluation before the training calls it at one step only
        over = max(calls.last for calls in table.calls if calls.root == copy.root)
        at_line = [calls for calls in table.calls if calls.site == copy.site and calls is not copy]
        for trained in at_line:
            is_last = all(calls.last <= trained.first for calls in at_line if calls is not trained)
            if (
                trained.root in table.trained_roots
                and over <= trained.first
                and is_last
                and trained.number >= NEEDED_CALLS
            ):
                yield copy, trained


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
