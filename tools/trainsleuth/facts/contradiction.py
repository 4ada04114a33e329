"""Arms of different ifs that no run takes together, because they ask the same: if mode == "train" and its else, twice."""

from __future__ import annotations

from collections.abc import Iterator

from .records import Block, Expr, Function
from .scopes import bindings
from .wording import written

_OPPOSITES = {"!=": "==", "is not": "is", "not in": "in"}


def contradict(function: Function, one: Block, other: Block) -> bool:
    """One run of the function is in at most one of the two: a test is so around one and not around the other."""
    asked = dict(_asked(function, one)) if one.branches and other.branches else {}
    return any(asked.get(test, truth) is not truth for test, truth in _asked(function, other))


def _asked(function: Function, block: Block) -> Iterator[tuple[str, bool]]:
    """Tests whose names are not given another value in between, and what each is in the block."""
    for branch in block.branches:
        for arm, test in enumerate(branch.tests if branch.kind == "if" else ()):
            if not any(len(bindings(function).get(name, ())) > 1 for name in _names(test)):
                yield _plain(test, arm == branch.arm)


def _names(test: Expr) -> Iterator[str]:
    for part in test.walk():
        if part.kind == "path":
            yield part.text


def _plain(test: Expr, truth: bool) -> tuple[str, bool]:
    if test.kind == "unary" and test.text == "not":
        return _plain(test.parts[0], not truth)
    if test.kind == "compare" and test.text in _OPPOSITES:
        return written(test._replace(text=_OPPOSITES[test.text])), not truth
    return written(test), truth
