"""Inputs and labels are shuffled apart.

Two calls of shuffle draw two orders: after them, no label belongs to its input. The loss falls to what the
class frequencies allow and stays there.

Fix: one permutation for both, or shuffle pairs.

Cannot see: pairs whose names do not say which are labels, seeds that are set far away, shuffles in other
functions.

Bad:
    import numpy as np

    def load(images, labels):
        np.random.shuffle(images)
        np.random.shuffle(labels)
        return images, labels

Bad (two permutations):
    import torch
    from torch.utils.data import TensorDataset

    def build(x, y):
        x = x[torch.randperm(len(x))]
        y = y[torch.randperm(len(y))]
        return TensorDataset(x, y)

Bad (only one of them by the permutation that has a name):
    import torch

    def mixup(x, y, share):
        order = torch.randperm(len(x), device=x.device)
        return share * x + (1 - share) * x[order], y, y[torch.randperm(len(x))]

Good:
    import numpy as np

    def load(images, labels, seed):
        np.random.seed(seed)
        np.random.shuffle(images)
        np.random.seed(seed)
        np.random.shuffle(labels)
        order = np.random.permutation(len(images))
        return images[order], labels[order]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import NamedTuple

from trainsleuth.facts import Event, Expr, Function, Index, encloses, is_sibling, is_test, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "labels-shuffled-apart",
    "data",
    "error",
    "label_pairing",
    suspects=("targets-misaligned-with-inputs",),
    claims=("labels-shuffled-together",),
)
_LABEL = re.compile(r"(^|_|\.)(y|ys|labels?|targets?|classes|annotations?|answers?|tgts?|masks?|Y)(_|$)", re.IGNORECASE)
_INPUT = re.compile(
    r"(^|_|\.)(x|xs|data|inputs?|images?|imgs?|features?|samples?|texts?|sentences?|questions?|srcs?|files|paths)(_|$)",
    re.IGNORECASE,
)
_MEANT = re.compile(r"neg|null|marginal|shuffl|perm|fake|contrast", re.IGNORECASE)
_RESETTING = ("seed", "set_state", "setstate", "manual_seed", "set_rng_state")


_SHUFFLING = ("shuffle", "randperm", "permutation")
_DRAWN = ("randperm", "permutation")
_PLACED = ("cuda", "to", "cpu", "long", "tolist", "numpy")


class _Shuffle(NamedTuple):
    """`name` gets an order of its own at event `position`; `order`: the name that this order has, "" for none."""

    name: str
    position: int
    call: Expr
    order: str = ""


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions():
        if is_test(function.path) or function.called.isdisjoint(_SHUFFLING):
            continue
        orders = dict(_orders(function))
        found = [one for position, event in enumerate(function.events) for one in _shuffles(position, event, orders)]
        for one, other in combinations(found, 2):
            if not _is_pair(one.name, other.name) or not _is_together(function, one, other):
                continue
            if _is_apart(found, one, other) and not _may_be_meant(function, one, other):
                yield _examined(function, one, other)


def _orders(function: Function) -> Iterator[tuple[str, Expr]]:
    """index = torch.randperm(n).cuda()"""
    for event in function.events:
        drawn = _drawn(event.value) if event.kind == "assign" and event.value is not None else None
        if drawn is not None and len(event.targets) == 1 and event.targets[0].kind == "path":
            yield event.targets[0].text, drawn


def _drawn(expr: Expr) -> Expr | None:
    """The call that draws a permutation, seen through what puts it on a device."""
    while expr.kind == "call" and expr.last in _PLACED and expr.receiver is not None:
        expr = expr.receiver
    return expr if expr.kind == "call" and expr.last in _DRAWN else None


def _is_apart(found: list[_Shuffle], one: _Shuffle, other: _Shuffle) -> bool:
    """Not by two orders that have names, and what one order is for is not brought into it elsewhere."""
    order = one.order or other.order
    if not order:
        return True
    of_order = {shuffle.name for shuffle in found if shuffle.order == order}
    return not (one.order and other.order) and not {one.name, other.name} <= of_order


def _may_be_meant(function: Function, one: _Shuffle, other: _Shuffle) -> bool:
    """One order has a name and is brought into the other elsewhere, or what comes out is called a negative or a marginal."""
    if not (order := one.order or other.order):
        return False
    apart = other.name if one.order else one.name
    for value in (event.value for event in function.events if event.value is not None):
        paths = {part.text for part in value.walk() if part.kind == "path"}
        if {order, apart} <= paths and f"{apart}[" not in written(value, 400):
            return True
    events = (function.events[shuffle.position] for shuffle in (one, other))
    return any(_MEANT.search(target.last) for event in events for target in event.targets)


def _shuffles(position: int, event: Event, orders: Mapping[str, Expr]) -> Iterator[_Shuffle]:
    for call in event.calls:
        if call.last == "shuffle" and len(call.arguments) == 1 and call.arguments[0].kind == "path":
            if call.receiver is None or call.receiver.last in ("random", "rng", "utils"):
                if (
                    call.keyword("random_state") is None and not (call.receiver is None and event.kind != "assign")
                ) or (call.receiver is None and event.kind == "expression"):
                    yield _Shuffle(call.arguments[0].text, position, call)
    value = event.value
    if event.kind in ("assign", "return") and value is not None:
        for part in value.walk():
            if part.kind == "index" and part.parts[0].kind == "path" and all(map(_is_whole, part.parts[2:])):
                rows = part.parts[1]
                if (drawn := orders.get(rows.text) if rows.kind == "path" else _drawn(rows)) is not None:
                    yield _Shuffle(part.parts[0].text, position, drawn, rows.text if rows.kind == "path" else "")
        if (
            value.kind == "call"
            and value.last == "permutation"
            and value.arguments
            and value.arguments[0].kind == "path"
        ):
            if any(target.text == value.arguments[0].text for target in event.targets):
                yield _Shuffle(value.arguments[0].text, position, value)


def _is_whole(expr: Expr) -> bool:
    """A slice that takes all: x[index, :]."""
    return expr.kind == "slice" and not expr.parts


def _is_pair(one: str, other: str) -> bool:
    """One holds labels, the other their inputs, of the same part of the data."""
    labels, inputs = (one, other) if _LABEL.search(one) else (other, one)
    if not _LABEL.search(labels) or _LABEL.search(inputs) or not _INPUT.search(inputs):
        return False
    return not _INPUT.search(_noun(labels)) and _part(labels) == _part(inputs)


def _noun(name: str) -> str:
    """The last word that is no part of the data: the features of a target domain are features."""
    named = [word for word in re.split(r"[_.]", name) if word and not _part(word)]
    return named[-1] if named else name


def _part(name: str) -> str:
    found = re.search(r"train|test|val|dev", name, re.IGNORECASE)
    return found[0].lower() if found else ""


def _is_together(function: Function, one: _Shuffle, other: _Shuffle) -> bool:
    a, b = (function.events[shuffle.position].block for shuffle in (one, other))
    return not is_sibling(a, b) and (encloses(a, b) or encloses(b, a)) and a.loops == b.loops


def _examined(function: Function, one: _Shuffle, other: _Shuffle) -> Finding:
    path, line = function.path, other.call.line
    if one.position == other.position and written(one.call) != written(other.call):
        between: tuple[Event, ...] = ()
    else:
        between = function.events[one.position : other.position + 1]
    resets = [call for event in between for call in event.calls if call.last in _RESETTING]
    fresh = any(part.kind == "call" for shuffle in (one, other) for part in _generator(shuffle.call))
    if resets or fresh:
        return SAY.passed(path, line, f"{one.name} and {other.name} are shuffled from the same state")
    chain = (
        Link(path, one.call.line, f"{written(one.call)} orders {one.name}"),
        Link(path, line, f"{written(other.call)} orders {other.name} in another way"),
    )
    message = (
        f"{one.name} and {other.name} are shuffled apart at {path}:{one.call.line} and {path}:{line}, so inputs lose "
        "their labels: expected one permutation for both."
    )
    return SAY.fail(path, line, message, chain)


def _generator(call: Expr) -> Iterator[Expr]:
    """What the call draws from, when it is made in the call itself: RandomState(0).shuffle(x)."""
    if call.receiver is not None and call.receiver.kind == "call":
        yield call.receiver
    for part in call.parts[1:]:
        if part.kind == "keyword" and part.text in ("generator", "random_state"):
            yield call
