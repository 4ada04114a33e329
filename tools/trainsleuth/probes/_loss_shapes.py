"""Shapes that broadcast to an outer product on the way to the loss."""

from __future__ import annotations

import math
from collections.abc import Iterator

from trainsleuth.finding import Finding
from trainsleuth.trace import Event, shown

from ._loss_words import failure, operation

_MEETING = ("add", "sub", "rsub", "mul", "div")  # two tensors, whose shapes may broadcast
FEWEST_ROWS = 8  # below that a model may give as many values as there are rows
ELEMENTWISE = frozenset({"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "poisson_nll_loss"})


def elementwise_broadcast(call: Event) -> Finding | None:
    if call["fn"] not in ELEMENTWISE or "target" not in call:
        return None
    given, target = call["input"]["shape"], call["target"]["shape"]
    if given == target or math.prod(given) == 1 or math.prod(target) == 1:
        return None
    result = _broadcast(given, target)
    if result is None or math.prod(result) <= max(math.prod(given), math.prod(target)):
        return None
    return failure(
        call,
        f"{call['fn']} at {shown(call)} gets shapes {tuple(given)} and {tuple(target)}, which broadcast to "
        f"{tuple(result)}: every prediction is compared with every target; expected equal shapes",
        "broadcast-in-loss",
        measured={"compared": math.prod(result), "expected": max(math.prod(given), math.prod(target))},
        next="squeeze or unsqueeze one side so that both shapes are equal",
        claims=("shape-broadcast-loss",),
    )


def one_for_several(call: Event) -> Finding | None:
    """Along an axis behind the batch one prediction meets several targets. A target that several heads share is left alone."""
    if call["fn"] not in ELEMENTWISE or "target" not in call:
        return None
    given, target = call["input"], call["target"]
    if given["requires_grad"] == target["requires_grad"]:
        return None
    predicted, wanted = (
        (given["shape"], target["shape"]) if given["requires_grad"] else (target["shape"], given["shape"])
    )
    if not predicted or len(predicted) != len(wanted) or predicted[0] != wanted[0] or wanted[0] == 1:
        return None
    several = [(axis, many) for axis, (one, many) in enumerate(zip(predicted, wanted, strict=True)) if one == 1 < many]
    if not several or _broadcast(predicted, wanted) != wanted:
        return None
    axis, many = several[0]
    return failure(
        call,
        f"{call['fn']} at {shown(call)} gets predictions of shape {tuple(predicted)} and targets of shape {tuple(wanted)}: along axis {axis} one "
        f"prediction is compared with {many} targets, so it learns what lies between them; expected equal shapes",
        "broadcast-in-loss",
        severity="warning",
        confidence="medium",
        measured={"predictions": math.prod(predicted), "targets": math.prod(wanted)},
        next="print both shapes on that line: slice the targets as the predictions are, or predict all of them",
        claims=("shape-broadcast-loss",),
    )


def pairs_for_rows(call: Event) -> Finding | None:
    """As many predictions for each row as there are rows, one target for all of them, and two tensors met just before: (N,) and
    (N, 1). Heads that share a target come out of a layer, or are stacked.
    """
    if call["fn"] not in ELEMENTWISE or "target" not in call or operation(call.get("producer") or {}) not in _MEETING:
        return None
    given, target = call["input"]["shape"], call["target"]["shape"]
    n = given[0] if given else 0
    if given != [n, n] or n < FEWEST_ROWS or target not in ([n, 1], [n]):
        return None
    return failure(
        call,
        f"{call['fn']} at {shown(call)} gets shapes {tuple(given)} and {tuple(target)}: {n} values for each of {n} rows, all compared with one "
        f"target; a value of shape ({n},) that met one of shape ({n}, 1) before gives such pairs; expected equal shapes",
        "broadcast-in-loss",
        severity="warning",
        confidence="medium",
        measured={"compared": n * n, "expected": n},
        next="print the shapes of what the predictions are made of; squeeze or unsqueeze one side",
        claims=("shape-broadcast-loss",),
    )


def labels_in_other_order(call: Event) -> Finding | None:
    """Rows were made flat by one axis first, and their labels by the other."""
    rows, labels = call.get("layouts") or (None, None)
    if rows is None or labels is None or rows == labels:
        return None
    return failure(
        call,
        f"{call['fn']} at {shown(call)} gets rows that were {tuple(rows)} before they were made flat, and labels that were {tuple(labels)}: all but "
        "a few rows meet the label of another place; expected both in one order",
        "targets-misaligned-with-inputs",
        measured={"rows": math.prod(rows)},
        next="transpose one of the two before it is made flat",
        claims=("view-vs-permute",),
    )


def _broadcast(a: list[int], b: list[int]) -> list[int] | None:
    width = max(len(a), len(b))
    pairs = list(zip([1] * (width - len(a)) + a, [1] * (width - len(b)) + b, strict=True))
    if any(x != y and 1 not in (x, y) for x, y in pairs):
        return None
    return [max(pair) for pair in pairs]


def outer_products(graphs: tuple[Event, ...]) -> Iterator[Finding]:
    seen = set()
    for graph in graphs:
        for outer in graph["outer"]:
            if outer["site"] in seen or outer["site"] is None:
                continue
            seen.add(outer["site"])
            yield _all_pairs(outer) if outer["both"] else _all_targets(outer)


def _all_targets(outer: Event) -> Finding:
    n = outer["to"][0]
    return failure(
        outer,
        f"{_broadcasts(outer)} on the way to the loss: each of {n} predictions meets all {n} targets; "
        f"expected elementwise {n} against {n}",
        "broadcast-in-loss",
        measured={"compared": n * n, "expected": n},
        next="print both shapes on that line; squeeze or unsqueeze one side",
        claims=("shape-broadcast-loss",),
    )


def _all_pairs(outer: Event) -> Finding:
    """Both operands carry a gradient, as the scores of a ranking do: nothing tells whether all pairs are meant."""
    n = outer["to"][0]
    return failure(
        outer,
        f"{_broadcasts(outer)} on the way to the loss, and both operands carry a gradient: all {n * n} pairs are formed; "
        f"expected {n}, unless each is to meet all others",
        "broadcast-in-loss",
        severity="note",
        confidence="low",
        measured={"pairs": n * n, "rows": n},
        next="print both shapes on that line; where all pairs are meant, make the axes by hand (a[:, None] - b[None, :])",
        claims=("shape-broadcast-loss",),
    )


def _broadcasts(outer: Event) -> str:
    return f"at {shown(outer)} an operand of shape {tuple(outer['from'])} broadcasts to {tuple(outer['to'])}"
