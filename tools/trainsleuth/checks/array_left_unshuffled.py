"""One permutation is brought into all arrays but one, and then all are cut alike.

After inputs = inputs[order] and mask = mask[order] row i of the targets belongs to another example, unless they get the same order.
Shapes agree, the loss falls to what the frequencies of the targets allow, and stays there.

Question to answer: does the array get its order elsewhere?

Fix: the same order for all: targets = targets[order].

Cannot see: arrays that are cut in other functions, orders that come from other functions.

Bad:
    import numpy as np

    class Sessions:
        def __init__(self, inputs, mask, targets):
            self.inputs, self.mask, self.targets = inputs, mask, targets

        def start_epoch(self):
            order = np.random.permutation(len(self.inputs))
            self.inputs = self.inputs[order]
            self.mask = self.mask[order]

        def rows(self, i):
            return self.inputs[i], self.mask[i], self.targets[i]

Bad (by a function that shuffles several):
    import torch
    from sklearn.utils import shuffle

    def fit(step, users, items, ratings, epochs):
        for _ in range(epochs):
            items, ratings = shuffle(items, ratings)
            u, i, r = torch.from_numpy(users), torch.from_numpy(items), torch.from_numpy(ratings)
            step(u, i, r)

Good:
    import numpy as np

    class Sessions:
        def __init__(self, inputs, mask, targets):
            self.inputs, self.mask, self.targets = inputs, mask, targets

        def start_epoch(self):
            order = np.random.permutation(len(self.inputs))
            self.inputs = self.inputs[order]
            self.mask = self.mask[order]
            self.targets = self.targets[order]

        def rows(self, i):
            return self.inputs[i], self.mask[i], self.targets[i]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainsleuth.facts import (
    Event,
    Expr,
    Function,
    Index,
    bindings,
    bound_names,
    is_sibling,
    is_test,
    mentions,
    spelled,
    written,
)
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "array-left-unshuffled",
    "data",
    "error",
    "label_pairing",
    suspects=("targets-misaligned-with-inputs",),
    claims=("labels-shuffled-together",),
)
_SHUFFLES = re.compile(rb"permutation\(|randperm\(|shuffle\(")
_DRAWN = ("permutation", "randperm")
_TOGETHER = re.compile(r"^(zip|TensorDataset)$|batch", re.I)
_PART = re.compile(r"train|test|val|dev|query|support|neg|perm|shuf", re.I)


class _Shuffle(NamedTuple):
    """By the events up to `position` the arrays `names` get the one order `order`."""

    names: tuple[str, ...]
    position: int
    order: str
    made: Expr


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_SHUFFLES):
        if not is_test(function.path):
            for shuffle in _shuffles(function):
                if (finding := _examined(index, function, shuffle)) is not None:
                    yield finding


def _shuffles(function: Function) -> Iterator[_Shuffle]:
    """x, y = shuffle(x, y); and x = x[order], y = y[order], of which each gets back what it was."""
    by_order: dict[str, dict[str, tuple[int, Expr]]] = {}
    for name, found in bindings(function).items():
        for one in found if name != "_" else ():
            if one.kind != "assign" or one.value is None:
                continue
            if not one.items and (order := _reordered(one.value, name)):
                by_order.setdefault(order, {})[name] = one.position, one.value
            elif one.items == (0,) and one.value.last == "shuffle" and len(one.value.arguments) > 1:
                given = tuple(part.text for part in one.value.arguments if part.kind == "path")
                if given == tuple(bound_names(function.events[one.position])):
                    yield _Shuffle(given, one.position, written(one.value), one.value)
    for order, arrays in by_order.items():
        places = [function.events[place].block for place, _ in arrays.values()]
        if len(arrays) > 1 and len({block.branches for block in places}) == 1 and _is_drawn(function, order):
            position, made = max(arrays.values(), key=lambda one: one[0])
            yield _Shuffle(tuple(arrays), position, order, made)


def _reordered(value: Expr, name: str) -> str:
    """The order of x[order], and of x[order, :]."""
    if value.kind != "index" or value.parts[0].text != name or value.parts[1].kind != "path":
        return ""
    whole = all(part.kind == "slice" and not part.parts for part in value.parts[2:])
    return value.parts[1].text if whole else ""


def _is_drawn(function: Function, order: str) -> bool:
    made = [one.value for one in bindings(function).get(order, ()) if one.value is not None]
    calls = [call for event in function.events for call in event.calls if call.last == "shuffle"]
    return any(part.last in _DRAWN for value in made for part in value.walk()) or any(
        one.text == order for call in calls for one in call.arguments
    )


def _examined(index: Index, function: Function, shuffle: _Shuffle) -> Finding | None:
    cls = index.class_of(function)
    is_own = all(name.startswith(f"{function.self_name}.") for name in shuffle.names) and bool(function.self_name)
    scope = tuple(cls.methods.values()) if is_own and cls is not None else (function,)
    shown = ", ".join(shuffle.names)
    taken = [found for one in scope for found in _beside(one, function, shuffle)]
    if not taken:
        return None
    apart = [one for one in taken if not _has_order(scope, function, shuffle, one[0])]
    if not apart:
        return SAY.passed(function.path, shuffle.made.line, f"what is cut like {shown} gets an order too")
    return _failure(function, shuffle, *apart[0])


def _beside(one: Function, function: Function, shuffle: _Shuffle) -> Iterator[tuple[str, Expr, Function]]:
    """Other arrays that are taken in the form in which all that were shuffled are, in one breath."""
    here = function.events[shuffle.position].block
    for position, event in enumerate(one.events):
        is_later = position > shuffle.position and not is_sibling(event.block, here)
        if one is function and not is_later:
            continue
        forms: dict[str, dict[str, Expr]] = {}
        for part in _in_one_breath(one, position, event):
            for name in {inner.text for inner in part.walk() if inner.kind == "path"}:
                form = repr(spelled(part)).replace(repr(name), "·")
                forms.setdefault(form, {})[name] = part
        for form, arrays in forms.items():
            if form.count("·") == 1 and set(shuffle.names) <= set(arrays):
                for name in arrays:
                    if name not in shuffle.names and _may_go_with(name, shuffle.names):
                        yield name, arrays[name], one


def _in_one_breath(function: Function, position: int, event: Event) -> Iterator[Expr]:
    """The items of a tuple and of zip(...), and what neighbours cut with one index."""
    for part in event.value.walk() if event.value is not None else ():
        if part.kind == "tuple":
            yield from (one for one in part.parts if one.kind in ("call", "index"))
        elif part.kind == "call" and _TOGETHER.search(part.last):
            yield from (one.parts[0] if one.kind == "keyword" else one for one in part.parts[1:])
    for near in _neighbours(function, position):
        for part in near.value.walk() if near.value is not None else ():
            if part.kind == "index" and part.parts[0].kind == "path" and _is_row(part):
                yield part


def _neighbours(function: Function, position: int) -> Sequence[Event]:
    """The statements right behind it in one block."""
    block = function.events[position].block
    found = []
    for event in function.events[position : position + 6]:
        if event.block != block or event.kind not in ("assign", "expression", "return"):
            break
        found.append(event)
    return found


def _is_row(part: Expr) -> bool:
    """x[i] and x[a:b]; neither x[0] nor x["name"]."""
    return any(one.kind == "path" for one in part.parts[1].walk())


def _may_go_with(name: str, names: Sequence[str]) -> bool:
    """It is no array of another part of the data, by its name."""
    parts = {found.lower() for found in _PART.findall(name.rpartition(".")[2])}
    others = {found.lower() for one in names for found in _PART.findall(one.rpartition(".")[2])}
    return parts <= others and ("." in name) is ("." in names[0])


def _has_order(scope: Sequence[Function], function: Function, shuffle: _Shuffle, name: str) -> bool:
    """It is made or changed after the shuffle, with it, or in a method that is no constructor."""
    for one in scope:
        found = bindings(one).get(name, ())
        for binding in found:
            is_late = one is function and binding.position >= shuffle.position
            ordered = binding.value is not None and mentions(binding.value, (shuffle.order, *shuffle.names))
            if is_late or ordered or (one is not function and one.name != "__init__"):
                return True
            if one is function and function.events[binding.position].kind == "for":
                return True
        for call in (call for event in one.events for call in event.calls):
            if call.last in ("shuffle", *_DRAWN) and mentions(call, (name,)):
                return True
    bound = any(name in bindings(one) for one in scope) or function.parameter(name) is not None
    return not bound


def _failure(function: Function, shuffle: _Shuffle, name: str, part: Expr, where: Function) -> Finding:
    path, line, shown = function.path, shuffle.made.line, " and ".join(shuffle.names)
    chain = (
        Link(path, line, f"{shown} get one order"),
        Link(where.path, part.line, f"{written(part)} takes the rows of {name} like theirs"),
    )
    message = (
        f"{shown} are shuffled at {path}:{line} by one order, and {name}, which {where.path}:{part.line} cuts like them, is not: its rows "
        f"belong to other examples. Is {name} shuffled elsewhere?"
    )
    return SAY.fail(path, line, message, chain, "medium")
