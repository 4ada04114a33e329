"""Of one minibatch some arrays give the rows of a permutation, another gives the rows that lie beside each other.

idx = order[start:end] draws the rows of a minibatch, and states[idx], actions[idx] take them. An array that is cut with
[start:end] itself gives the rows from start to end: each of its values meets a row that it does not belong to. Shapes agree,
the loss falls, and what is learned from that array is noise.

Fix: the same index for all: advantages[idx].

Cannot see: rows that another function takes.

Bad:
    import numpy as np
    import torch

    def update(policy, optimizer, states, actions, advantages, size):
        order = np.random.permutation(len(states))
        for start in range(0, len(states), size):
            rows = order[start : start + size]
            log_probs = policy(states[rows]).log_prob(actions[rows])
            loss = -(log_probs * advantages[start : start + size]).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

Bad (the order is shuffled in each epoch):
    import numpy as np

    def epochs(model, step, x, y, weights, size=64, count=10):
        order = np.arange(len(x))
        for _ in range(count):
            np.random.shuffle(order)
            for start in range(0, len(x), size):
                end = start + size
                idx = order[start:end]
                step(model, x[idx], y[idx], weights[start:end])

Good:
    import numpy as np

    def epochs(model, step, x, y, weights, size=64, count=10):
        order = np.arange(len(x))
        for _ in range(count):
            np.random.shuffle(order)
            for start in range(0, len(x), size):
                end = start + size
                idx = order[start:end]
                step(model, x[idx], y[idx], weights[idx])
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainsleuth.facts import Expr, Function, Index, Spot, bound_names, is_test, makers, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "rows-apart",
    "data",
    "error",
    "",
    suspects=("targets-misaligned-with-inputs",),
    claims=("labels-shuffled-together",),
    look="take one minibatch and compare its rows with those of the whole arrays, array by array",
    sure=("",),
)
_SHUFFLES = re.compile(rb"\b(?:permutation|randperm|shuffle)\b")
_DRAWN = ("permutation", "randperm")
_ORDERING = (*_DRAWN, "arange", "range", "argsort", "shuffle", "sample")


class _Rows(NamedTuple):
    """`name` holds the rows `cut` (start:end, as written) of a permutation, in the loop `loop`."""

    name: str
    cut: str
    order: str
    loop: int
    position: int
    made: Expr


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_SHUFFLES):
        if not is_test(function.path):
            for rows in _drawn(index, function):
                yield from _examined(function, rows)


def _drawn(index: Index, function: Function) -> Iterator[_Rows]:
    """rows = order[start:end] in a loop, of an order that is shuffled."""
    for position, event in enumerate(function.events):
        value = event.value
        if (
            event.kind != "assign"
            or len(event.targets) != 1
            or event.targets[0].kind != "path"
            or not event.block.loops
        ):
            continue
        if value is not None and (cut := _cut(value)) and value.parts[0].kind == "path":
            order = value.parts[0].text
            if _is_shuffled(index, function, position, value.parts[0]):
                yield _Rows(event.targets[0].text, cut, order, event.block.loops[-1], position, value)


def _cut(expr: Expr) -> str:
    """The bounds of x[start:end] as written; "" for whatever is none, and for x[:5]."""
    if expr.kind != "index" or len(expr.parts) != 2 or expr.parts[1].kind != "slice" or expr.parts[1].text != "_:_":
        return ""
    return written(expr.parts[1], 200)


def _is_shuffled(index: Index, function: Function, position: int, order: Expr) -> bool:
    for event in function.events[:position]:
        if any(call.last == "shuffle" and [one.text for one in call.arguments] == [order.text] for call in event.calls):
            return True
    made = list(makers(index, order, Spot(function, position)))
    return bool(made) and all(
        any(part.kind == "call" and part.last in _DRAWN for part in one.walk()) for one, _ in made
    )


def _examined(function: Function, rows: _Rows) -> Iterator[Finding]:
    path = function.path
    taken: dict[str, Expr] = {}
    beside: dict[str, Expr] = {}
    written_to: set[str] = set()
    for place, event in enumerate(function.events):
        for target in event.targets:
            written_to.update(part.parts[0].text for part in target.walk() if part.kind == "index")
        if place > rows.position and rows.loop in event.block.loops:
            for part in event.value.walk() if event.value is not None else ():
                if part.kind == "index" and part.parts[0].kind == "path":
                    name = part.parts[0].text
                    if any(one.kind == "path" and one.text == rows.name for one in part.parts[1:]):
                        taken.setdefault(name, part)
                    elif _cut(part) == rows.cut and name != rows.order:
                        beside.setdefault(name, part)
    if not taken:
        return
    apart = [part for name, part in beside.items() if name not in written_to]
    if not apart or _is_index(function, apart[0], rows.order):
        yield SAY.passed(path, rows.made.line, f"{', '.join(taken)} give the rows of {rows.name}")
        return
    yield _failure(path, rows, next(iter(taken.values())), apart[0])


def _is_index(function: Function, part: Expr, order: str) -> bool:
    """Another order, made or shuffled here: what it gives is an index, or it was brought into the order before."""
    name = part.parts[0].text
    for event in function.events:
        inside = list(event.value.walk()) if event.value is not None else []
        if name in bound_names(event) and any(one.last in _ORDERING or one.text == order for one in inside):
            return True
        if any(call.last == "shuffle" and name in [one.text for one in call.arguments] for call in event.calls):
            return True
    return False


def _failure(path: str, rows: _Rows, taken: Expr, apart: Expr) -> Finding:
    name, line = apart.parts[0].text, apart.line
    chain = (
        Link(path, rows.made.line, f"{rows.name} are the rows that {rows.order}, which is shuffled, has at {rows.cut}"),
        Link(path, taken.line, f"{written(taken)} takes these rows"),
        Link(path, line, f"{written(apart)} takes the rows that lie beside each other"),
    )
    message = (
        f"{written(apart)} at {path}:{line} stands beside {written(taken)} in one minibatch: {rows.name} are shuffled rows, {rows.cut} "
        f"are others, so {name} meets rows that it does not belong to; expected {name}[{rows.name}]."
    )
    return SAY.fail(path, line, message, chain)
