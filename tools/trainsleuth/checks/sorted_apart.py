"""Of the examples of a batch some parts are taken in sorted order, others as they came.

A collate function sorts its examples by length, and takes the sequences from the sorted list and the labels from the list that it
was given; or each part gets an order by its own lengths; or the list is sorted in place when one of its parts was taken already; or one of two tables is sorted. Shapes agree,
and each sequence gets the label of another: the loss falls to what the frequencies of the labels allow, and stays there.

Question to answer: are both brought into one order elsewhere?

Fix: take all parts from the sorted examples.

Cannot see: parts that another function takes, orders that are brought in by an index.

Bad:
    import torch
    from torch.nn.utils.rnn import pad_sequence

    def collate(batch):
        longest_first = sorted(batch, key=lambda one: len(one[0]), reverse=True)
        clips = [one[0] for one in longest_first]
        labels = [one[1] for one in batch]
        return pad_sequence(clips, batch_first=True), torch.tensor(labels)

Bad (sorted in place, too late):
    import torch
    from torch.nn.utils.rnn import pad_sequence

    def collate(batch):
        labels = torch.tensor([one[1] for one in batch])
        batch.sort(key=lambda one: len(one[0]), reverse=True)
        clips = [one[0] for one in batch]
        return pad_sequence(clips, batch_first=True), labels

Bad (each by its own lengths):
    def pairs(source, target, by_length):
        order = by_length.argsort(source)
        source = [source[i] for i in order]
        target = [target[i] for i in by_length.argsort(target)]
        return source, target

Bad (one table):
    import pandas as pd

    def collate(rows):
        x = pd.concat([row[0] for row in rows]).sort_index()
        y = pd.concat([row[1] for row in rows])
        return x, y

Good:
    import torch
    from torch.nn.utils.rnn import pad_sequence

    def collate(batch):
        longest_first = sorted(batch, key=lambda one: len(one[0]), reverse=True)
        clips = [one[0] for one in longest_first]
        labels = [one[1] for one in longest_first]
        return pad_sequence(clips, batch_first=True), torch.tensor(labels)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from trainsleuth.facts import Event, Expr, Function, Index, bindings, bound_names, is_sibling, is_test, spelled, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "sorted-apart",
    "data",
    "error",
    "label_pairing",
    suspects=("targets-misaligned-with-inputs",),
    claims=("labels-shuffled-together",),
    forms={
        "list": "parts of a list and of the same list sorted",
        "table": "one of two tables that are made alike",
        "indices": "each by an order of its own",
    },
)
_SORTS = re.compile(rb"sorted\(|\.sort\(|sort_(?:index|values)\(|argsort\(")
_ORDERS = re.compile(r"sort", re.IGNORECASE)
_KEEPS = (  # the order of what it is given
    "tensor", "as_tensor", "from_numpy", "FloatTensor", "LongTensor", "Tensor", "array", "asarray", "stack", "cat",
    "pad_sequence", "list", "tuple", "concatenate",
)  # fmt: skip
_COUNTING = (
    "len", "max", "min", "sum", "sorted", "argsort", "range", "print", "info", "debug", "log", "write", "format",
)  # fmt: skip
_COUNTED = ("value_counts", "groupby", "size", "count", "describe")
_OF_TABLES = ("sort_index", "sort_values")


class _Part(NamedTuple):
    """At event `position`, `name` gets a part of each example of the list `source`."""

    name: str
    position: int
    source: str
    value: Expr
    element: str


class _Sorting(NamedTuple):
    """From event `position` on `result` holds the examples of `source` in order; they are one where it is sorted in place."""

    source: str
    result: str
    position: int
    call: Expr


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_SORTS):
        if not is_test(function.path):
            yield from _of_lists(function)
            yield from _of_tables(function)
            yield from _of_indices(function)


def _of_lists(function: Function) -> Iterator[Finding]:
    parts = list(_parts(function))
    for sorting in _sortings(function):
        ordered = [one for one in parts if one.source == sorting.result and one.position > sorting.position]
        before = [one for one in parts if one.source == sorting.source and _is_as_it_came(one, sorting)]
        if not ordered:
            continue
        apart = next((one for one in before if _is_read_with(function, one, ordered[0])), None)
        if apart is None:
            yield SAY.passed(function.path, sorting.call.line, f"all parts are taken from {sorting.result}")
        else:
            yield _failure(function, ordered[0], apart, sorting)


def _sortings(function: Function) -> Iterator[_Sorting]:
    for position, event in enumerate(function.events):
        for call in event.calls:
            given = call.arguments[0] if call.last == "sorted" and call.callee == "sorted" and call.arguments else None
            if given is not None and event.kind == "assign" and event.value is call and given.kind == "path":
                yield from (
                    _Sorting(given.text, one.text, position, call)
                    for one in event.targets
                    if one.kind == "path" and one.text != given.text
                )
            held = call.receiver if call.last == "sort" and event.kind == "expression" and event.value is call else None
            if held is not None and held.kind == "path":
                yield _Sorting(held.text, held.text, position, call)


def _parts(function: Function) -> Iterator[_Part]:
    """labels of labels = torch.tensor([one[1] for one in batch]) and of clips, labels = zip(*batch); whole examples are none,
    they may be sorted later.
    """
    for position, event in enumerate(function.events):
        value = event.value
        if event.kind != "assign" or value is None or len(event.targets) != 1:
            continue
        if (source := _unzipped(value)) and event.targets[0].kind == "tuple":
            yield from (
                _Part(one.text, position, source, value, one.text)
                for one in event.targets[0].parts
                if one.kind == "path"
            )
        if event.targets[0].kind != "path":
            continue
        while value.kind == "call" and value.last in _KEEPS and value.arguments:
            value = value.arguments[0]
        if value.kind != "each" or value.text not in ("list", "generator") or len(value.parts) != 2:
            continue
        element, clause = value.parts
        if clause.kind == "for" and clause.parts[1].kind == "path" and _is_a_part(element, clause.parts[0]):
            yield _Part(
                event.targets[0].text, position, clause.parts[1].text, event.value or value, written(element, 200)
            )


def _unzipped(value: Expr) -> str:
    """batch of zip(*batch)."""
    given = value.arguments[0] if value.callee == "zip" and len(value.parts) == 2 and value.arguments else None
    return given.parts[0].text if given is not None and given.kind == "star" and given.parts[0].kind == "path" else ""


def _is_a_part(element: Expr, variable: Expr) -> bool:
    """one[1], one.label, one["y"], or y of `for x, y in batch`."""
    names = {part.text for part in variable.walk() if part.kind == "path"}
    heads = {part.text.partition(".")[0] for part in element.walk() if part.kind == "path"}
    return bool(names & heads) and not (element.kind == "path" and element.text == variable.text)


def _is_as_it_came(part: _Part, sorting: _Sorting) -> bool:
    return sorting.source != sorting.result or part.position < sorting.position


def _is_read_with(function: Function, one: _Part, other: _Part) -> bool:
    """Both are given on by the function together, in one branch."""
    if (
        one.name == other.name
        or one.element == other.element
        or is_sibling(function.events[one.position].block, function.events[other.position].block)
    ):
        return False
    return _meet(function, max(one.position, other.position), one.name, other.name)


def _meet(function: Function, position: int, *names: str) -> bool:
    """A statement behind `position` reads two names together, or what was made of them."""
    made = [{name} for name in names]
    for event in function.events[position + 1 :]:
        reads = _read(event)
        if all(reads & one for one in made):
            return True
        for one in made:
            one.difference_update(bound_names(event) if not reads & one else ())
            one.update(bound_names(event) if reads & one else ())
    return False


def _read(event: Event) -> set[str]:
    """Names that a statement reads as a whole or turns into tensors; not those that are only counted or shown, and none where each
    is looked up by another: [by_name[one] for one in names].
    """
    if any(
        part.kind == "each" and part.parts[0].kind == "index"
        for part in (event.value.walk() if event.value is not None else ())
    ):
        return set()
    found, waiting = set(), [event.value] if event.value is not None else []
    while waiting:
        part = waiting.pop()
        if part.kind == "path":
            found.add(part.text)
        elif part.kind != "call" or part.last not in _COUNTING:
            waiting += part.parts
    return found


def _failure(function: Function, ordered: _Part, apart: _Part, sorting: _Sorting) -> Finding:
    path = function.path
    chain = (
        Link(path, sorting.call.line, f"{written(sorting.call)} puts the examples into order"),
        Link(path, ordered.value.line, f"{ordered.name} is taken from the sorted ones"),
        Link(path, apart.value.line, f"{apart.name} is taken from those that came"),
    )
    message = (
        f"{ordered.name} at {path}:{ordered.value.line} is in the order of {written(sorting.call)}, {apart.name} at {path}:{apart.value.line} in the order "
        "in which the examples came, so they do not belong together; expected both from the sorted examples."
    )
    return SAY.fail(path, apart.value.line, message, chain, form="list")


def _of_indices(function: Function) -> Iterator[Finding]:
    """x = [x[i] for i in order] beside y = [y[i] for i in argsort(y)]."""
    ordered = [
        (place, *found) for place, event in enumerate(function.events) if (found := _by_indices(event)) is not None
    ]
    for (place, name, order, value), (beside, other, its, its_value) in combinations(ordered, 2):
        is_own = _ORDERS.search(written(order, 200)) or _ORDERS.search(written(its, 200))
        if name == other or function.events[place].block != function.events[beside].block or not is_own:
            continue
        if _source(function, order, place) == _source(function, its, beside):
            yield SAY.passed(function.path, its_value.line, f"{name} and {other} get one order")
        elif _meet(function, beside, name, other):
            chain = (
                Link(function.path, value.line, f"{name} gets the order {written(order)}"),
                Link(function.path, its_value.line, f"{other} gets the order {written(its)}"),
            )
            message = (
                f"{name} at {function.path}:{value.line} is put into the order {written(order)}, {other} at {function.path}:{its_value.line} into the order "
                f"{written(its)}: each has an order of its own, so they do not belong together; expected one order for both."
            )
            yield SAY.fail(function.path, its_value.line, message, chain, form="indices")


def _by_indices(event: Event) -> tuple[str, Expr, Expr] | None:
    """(x, order, the whole) of x = [x[i] for i in order]."""
    value = event.value
    if (
        event.kind != "assign"
        or value is None
        or len(event.targets) != 1
        or value.kind != "each"
        or len(value.parts) != 2
    ):
        return None
    (element, clause), name = value.parts, event.targets[0].text
    is_for = clause.kind == "for" and clause.parts[0].kind == "path"
    if not is_for or element.kind != "index" or element.parts[0].text != name or len(element.parts) != 2:
        return None
    return (name, clause.parts[1], value) if element.parts[1].text == clause.parts[0].text else None


def _source(function: Function, order: Expr, position: int) -> tuple[object, ...]:
    """The order as its maker wrote it."""
    found = (
        [one for one in bindings(function).get(order.text, ()) if one.position < position]
        if order.kind == "path"
        else []
    )
    return spelled(found[-1].value) if found and found[-1].value is not None else spelled(order)


def _of_tables(function: Function) -> Iterator[Finding]:
    """x = concat(first).sort_index() beside y = concat(second)."""
    made = [
        (event.targets[0].text, event.value, position)
        for position, event in enumerate(function.events)
        if event.kind == "assign" and event.value is not None and len(event.targets) == 1 and event.targets[0].kind == "path"
        and event.value.kind == "call"
    ]  # fmt: skip
    for (name, value, position), (other, its, beside) in combinations(made, 2):
        block, its_block = function.events[position].block, function.events[beside].block
        sorted_, plain = (value, its) if value.last in _OF_TABLES else (its, value)
        inner = sorted_.receiver if sorted_.last in _OF_TABLES and plain.last not in _OF_TABLES else None
        if inner is None or inner.kind != "call" or name == other or block != its_block or not _are_alike(inner, plain):
            continue
        first, second = (name, other) if sorted_ is value else (other, name)
        if _meet(function, beside, name, other):
            path, line = function.path, plain.line
            chain = (
                Link(path, sorted_.line, f"{first} is sorted"),
                Link(path, line, f"{second} is made alike, and is not"),
            )
            message = (
                f"{first} at {path}:{sorted_.line} is {written(sorted_)}, and {second} at {path}:{line} is {written(plain)}: only one of the two is sorted, so "
                "their rows do not belong together; expected the same for both."
            )
            yield SAY.fail(path, line, message, chain, form="table")


def _are_alike(one: Expr, other: Expr) -> bool:
    """The same calls of the same names, but for numbers and texts: columns and places of a tuple."""
    mine, its = list(one.walk()), list(other.walk())
    if any(part.last in _COUNTED for part in mine):
        return False
    return (
        len(mine) == len(its)
        and any(part.kind in ("number", "string") for part in mine)
        and all(
            a.kind == b.kind and (a.kind in ("number", "string") or a.text == b.text)
            for a, b in zip(mine, its, strict=True)
        )
    )
