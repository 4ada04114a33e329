"""Inputs that hold the target: a label left among the features, a window that reaches into its horizon."""

from __future__ import annotations

import math
from collections.abc import Iterator

from trainsleuth.finding import Finding, Severity
from trainsleuth.trace import Event, Trace, shown

from ._batch_words import failure, latest

NEEDED_BATCHES = 5
NEEDED_ROWS = 40  # whose target is not the commonest one: by chance two labels agree in half of them
WIDER = 4  # times the target: what enters an autoencoder, or a model of the next token, is as wide as its targets
FEW = 3  # columns that hold it; where many do, inputs and targets hardly change at all
NEXT = "look where inputs and targets are cut from the data: is the target's column dropped, does the window end before the horizon?"


def target_in_input(trace: Trace) -> Iterator[Finding]:
    """A column of what enters the model is the target, in every row of every batch."""
    for one in latest(trace, "target_in_input", "fn", "site", "lib", "name"):
        if not one["always"] or not one["reached"] or one["read"] < NEEDED_BATCHES or one["others"] < NEEDED_ROWS:
            continue
        if any(count > FEW for _, count, _ in one["found"]):
            continue
        if [column for column, _, _ in one["found"]] == one["looked"]:
            if one["width"] >= WIDER:
                yield from _whole(one)
        elif _is_first_step_in_last(one):
            yield _found(
                one,
                "note",
                f"the first of {one['target_shape'][0]} steps of the targets of {one['fn']} at {shown(one)} is the last of {one['shape'][0]} steps "
                f"of {one['name']!r}, which enters {one['cls']}, in all {one['rows']} rows of {one['read']} batches: window and horizon overlap "
                "by one, so this step need only be copied; is that meant, as for a decoder that starts from what is known?",
            )


def _whole(one: Event) -> Iterator[Finding]:
    if one["effect"] == 0.0:
        return  # the model masks it
    is_plain = one["calls"] == 1 and one["effect"] is not None and _is_no_task(one)
    same = "equals it" if one["slope"] is None else f"is it but for a factor and a constant (slope {one['slope']:.4g})"
    moved = ", and the outputs move when it alone is exchanged among the rows" if one["effect"] else ""
    asks = (
        "expected inputs without what is to be predicted"
        if is_plain
        else "is that meant, as where a model is to recall or to copy?"
    )
    yield _found(
        one,
        "warning" if is_plain else "note",
        f"the target of {one['fn']} at {shown(one)} stands in {one['name']!r}, which enters {one['cls']}: {_place(one)} {same} in all "
        f"{one['rows']} rows of {one['read']} batches{moved}; {asks}",
    )


def _is_no_task(one: Event) -> bool:
    """A table with one target, or a window whose last step it is: to recall something earlier may be what is learned.

    Where the program takes that step out of the very tensor that enters, to give it back may be the task.
    """
    if len(one["shape"]) == 1 and one["is_float"]:
        return math.prod(one["target_shape"]) == 1
    return bool(len(one["shape"]) <= 2 and _in_last_step(one)) and not one["is_part"]


def _in_last_step(one: Event) -> bool:
    places = [place for _, _, places in _with_indices(one) for place in places]
    return any(size > 1 and all(place[axis] == size - 1 for place in places) for axis, size in enumerate(one["shape"]))


def _with_indices(one: Event) -> list[tuple[int, int, list[tuple[int, ...]]]]:
    return [
        (column, count, [_index(place, one["shape"]) for place in places]) for column, count, places in one["found"]
    ]


def _index(place: int, shape: list[int]) -> tuple[int, ...]:
    index: list[int] = []
    for size in reversed(shape):
        place, here = divmod(place, size)
        index.insert(0, here)
    return tuple(index)


def _is_first_step_in_last(one: Event) -> bool:
    """Axes are [steps] or [steps, channels] in both."""
    shape, target = one["shape"], one["target_shape"]
    if len(shape) != len(target) or len(shape) > 2 or min(shape[0], target[0]) < 2 or shape[1:] != target[1:]:
        return False
    first = [column for column in one["looked"] if column < math.prod(target[1:])]
    if [column for column, _, _ in one["found"]] != first:
        return False
    return all(any(place[0] == shape[0] - 1 for place in places) for _, _, places in _with_indices(one))


def _place(one: Event) -> str:
    _, _, places = _with_indices(one)[0]
    if len(one["shape"]) == 1:
        return f"column {places[0][0]} of {one['shape'][0]}"
    return f"place {list(places[0])} of {one['shape']}"


def _found(one: Event, severity: Severity, message: str) -> Finding:
    return failure(
        one,
        message,
        "split-leak",
        severity=severity,
        confidence="medium",
        measured={"batches": one["read"], "rows": one["rows"]},
        next=NEXT,
        claims=("leakage-is-widespread",),
    )
