"""Two parts of the data are given the same rows.

A line is copied, and one word stays: train_x = x[test_index] beside test_x = x[test_index], or the same slice for both. Or two
slices of one array begin, or end, at the same row: order[n_test:] for training holds order[n_test : n_test + n_val] too. The model
is scored on what it was fitted on, or never sees what it should learn, and nothing else shows it [leakage-is-widespread].

Question to answer: are rows in both parts on purpose, to see whether the model can fit them at all?

Fix: the index of the part: train_x = x[train_index]; the end of one slice is where the next begins: order[n_test + n_val :].

Cannot see: parts that different functions take, rows that have other names.

Bad:
    def probe(embeds, labels, idx_train, idx_test, fit, score):
        train_embs = embeds[0, idx_test]
        test_embs = embeds[0, idx_test]
        fitted = fit(train_embs, labels[idx_train])
        return score(fitted, test_embs, labels[idx_test])

Bad (a slice):
    def parted(data, share):
        n = int(share * len(data["x"]))
        parts = {}
        for k in data:
            parts[k], parts["test_" + k] = data[k][:n], data[k][:n]
        return parts

Bad (one slice within another):
    import numpy as np

    def parted(n, n_test, n_val):
        order = np.random.permutation(n)
        test_rows = order[:n_test]
        val_rows = order[n_test : n_test + n_val]
        train_rows = order[n_test:]
        return train_rows, val_rows, test_rows

Good (one behind the other):
    import numpy as np

    def parted(n, n_test, n_val):
        order = np.random.permutation(n)
        test_rows = order[:n_test]
        val_rows = order[n_test : n_test + n_val]
        train_rows = order[n_test + n_val :]
        return train_rows, val_rows, test_rows

Good:
    def probe(embeds, labels, idx_train, idx_test, fit, score):
        train_embs = embeds[0, idx_train]
        test_embs = embeds[0, idx_test]
        fitted = fit(train_embs, labels[idx_train])
        return score(fitted, test_embs, labels[idx_test])

Good (the array is another one by then):
    def parted(read, n):
        data = read("train")
        train_x = data[:n]
        data = read("test")
        test_x = data[:n]
        return train_x, test_x
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from trainsleuth.facts import Expr, Function, Index, bound_names, is_test, spelled, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "same-rows-for-two-parts",
    "data",
    "warning",
    "",
    suspects=("split-leak",),
    claims=("leakage-is-widespread",),
    look="compare the rows of the two parts",
    forms={"same": "the same rows for both", "overlap": "two slices that begin or end at the same row"},
)
_HELD_OUT = (
    rb"val(?<![A-Za-z]val)(?:id(?:ation)?)?",
    rb"dev(?<![A-Za-z]dev)",
    rb"test(?<![A-Za-z]test)(?:ing)?",
    rb"holdout",
)
_GIVES = re.compile(  # one of two parts is held out; no list
    b"|".join(part + rb"(?![A-Za-z])[^=\n]{0,99}=[^=\n]*(?:[\w)\]]\[|Subset)" for part in _HELD_OUT)
)
_PART = re.compile(r"(?<![A-Za-z])(train(?:ing)?|tr|val(?:id(?:ation)?)?|dev|test(?:ing)?|holdout)(?![A-Za-z])")
_KEEPS_ROWS = (
    "argmax", "tensor", "as_tensor", "from_numpy", "FloatTensor", "LongTensor", "Tensor", "array", "asarray", "to", "cuda",
    "cpu", "numpy", "float", "long", "double", "copy", "clone", "squeeze", "unsqueeze", "reshape", "view", "list",
    "astype", "Subset", "SubsetRandomSampler", "reset_index", "toarray",
)  # fmt: skip


class _Rows(NamedTuple):
    """One slice of an array, by what is written."""

    array: tuple[object, ...]
    start: str
    end: str


class _Given(NamedTuple):
    """At event `position`, `target` of the part `part` gets `value`."""

    position: int
    target: Expr
    stem: str
    part: str
    value: Expr


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_GIVES):
        if not is_test(function.path):
            given = list(_given(function))
            for one, other in combinations(given, 2):
                if one.stem == other.stem and one.part != other.part and _are_together(function, one, other):
                    yield _examined(function, one, other)


def _given(function: Function) -> Iterator[_Given]:
    for position, event in enumerate(function.events):
        value, targets = event.value, event.targets
        if event.kind != "assign" or value is None:
            continue
        if len(targets) == 1 and targets[0].kind == "tuple" and value.kind == "tuple":
            pairs = list(zip(targets[0].parts, value.parts, strict=False))
        elif len(targets) > 1 and value.kind == "tuple":
            pairs = list(zip(targets, value.parts, strict=False))
        else:
            pairs = [(target, value) for target in targets]
        for target, taken in pairs:
            stem, part = _parted(target)
            if _takes_rows(taken) and (part or len(pairs) > 1):
                yield _Given(position, target, stem, part, taken)


def _parted(target: Expr) -> tuple[str, str]:
    """The name without its part, and that: x_| and train of x_train; parts[k] and test of parts["test_" + k]."""
    name = written(target, 200).replace("'", "").replace('"', "")
    found = _PART.findall(name.replace("_", " "))
    stem = _PART.sub("", name.replace("_", " "))
    return re.sub(r"[\s_+]+", " ", stem).replace("[ ", "[").strip(), found[0][:2] if len(found) == 1 else ""


def _takes_rows(value: Expr) -> bool:
    """x[:n], x[test_index], torch.tensor(y[test_index]), Subset(data, test_index); of nothing that is drawn."""
    parts = list(value.walk())
    if value.kind not in ("index", "call") or any(
        part.kind == "call" and part.last not in _KEEPS_ROWS for part in parts
    ):
        return False
    for part in parts:
        if part.kind == "index" and any(map(_tells, part.parts[1:])):
            return True
        if part.last in ("Subset", "SubsetRandomSampler") and part.arguments and _tells(part.arguments[-1]):
            return True
    return False


def _tells(rows: Expr) -> bool:
    """A slice with a bound that is no small number, or a name that has a part in it."""
    if rows.kind == "slice":
        return any(bound.kind not in ("number", "unary") for bound in rows.parts)
    return rows.kind == "path" and _PART.search(rows.last.replace("_", " ")) is not None


def _are_together(function: Function, one: _Given, other: _Given) -> bool:
    """In one block, and nothing that the rows are taken of gets another value in between."""
    here, there = function.events[one.position].block, function.events[other.position].block
    names = {part.text for part in one.value.walk() if part.kind == "path"}
    between = function.events[one.position : other.position]
    changed = {name for event in between for name in bound_names(event)} if between else set()
    return here == there and names.isdisjoint(changed)


def _examined(function: Function, one: _Given, other: _Given) -> Finding:
    path, line = function.path, other.target.line
    a, b = written(one.target), written(other.target)
    if spelled(one.value) != spelled(other.value):
        if (shared := _shared(one.value, other.value)) is None:
            return SAY.passed(path, line, f"{a} and {b} get different rows")
        chain = (
            Link(path, one.target.line, f"{a} gets {written(one.value)}"),
            Link(path, line, f"{b} gets {written(other.value)}: both {shared}"),
        )
        message = (
            f"{a} at {path}:{one.target.line} is {written(one.value)} and {b} at {path}:{line} is {written(other.value)}: both {shared}, "
            "so the shorter of the two parts of the data lies within the other. Which bound is meant otherwise?"
        )
        return SAY.fail(path, line, message, chain, "medium", form="overlap")
    chain = (
        Link(path, one.target.line, f"{a} gets {written(one.value)}"),
        Link(path, line, f"{b} gets the same"),
    )
    message = (
        f"{a} at {path}:{one.target.line} and {b} at {path}:{line} both get {written(one.value)}: the two parts of the data are the same "
        "rows. Which of the two is meant to be another part?"
    )
    return SAY.fail(path, line, message, chain, "medium", form="same")


def _shared(one: Expr, other: Expr) -> str | None:
    """Where two slices of one array begin, or end, alike; None where nothing says that they meet."""
    mine, its = _rows(one), _rows(other)
    if mine is None or its is None or mine.array != its.array:
        return None
    if mine.start == its.start and not _counts_back(mine.end) and not _counts_back(its.end):
        return f"begin at {mine.start or 'the first row'}"
    if mine.end == its.end and _counts_back(mine.start) is _counts_back(its.start):
        return f"end at {mine.end or 'the last row'}"
    return None


def _rows(value: Expr) -> _Rows | None:
    """Of the only slice in it, which takes rows: x[a:b] and torch.tensor(x[a:b, 0])."""
    slices = [part for part in value.walk() if part.kind == "index" and part.parts[1].kind == "slice"]
    if len(slices) != 1 or not slices[0].parts[1].parts:  # x[:, :n] takes columns
        return None
    bounds = written(slices[0].parts[1], 200).replace(" ", "").split(":")
    return _Rows(spelled(slices[0].parts[0]), *bounds) if len(bounds) == 2 else None


def _counts_back(bound: str) -> bool:
    return bound.startswith("-")
