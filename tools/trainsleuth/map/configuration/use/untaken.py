"""Branches of the code that the settings are known not to take."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from trainsleuth.facts import Branch, Event, Function
from trainsleuth.facts.memo import kept_per_function

from ..records import Key
from ..values.evaluated import is_true

if TYPE_CHECKING:
    from ..truth import Truth


def untaken(truth: Truth, function: Function, line: int) -> str:
    """The setting by which the branch around `line` of `function` is not taken."""
    event = _statement_at(function, line)
    if event is None:
        return ""
    return untaken_by(truth, function, event.block.branches) or _left_before(truth, function, event)


def _left_before(truth: Truth, function: Function, event: Event) -> str:
    """The setting by which the function returns above `event`: if kind == "near": return Near()."""
    around = [(branch.id, branch.arm) for branch in event.block.branches]
    for one in _returns(function):
        *outer, last = one.block.branches
        if one.line >= event.line:
            break
        if last.kind != "if" or last.id in dict(around):
            continue
        if one.block.loops != event.block.loops[: len(one.block.loops)]:
            continue  # in a loop that the statement does not stand in: it may have no round
        if [(branch.id, branch.arm) for branch in outer] != around[: len(outer)]:
            continue
        said: list[Key] = []
        if is_taken(truth, function, last, said) and _are_sure(truth, said):
            return _said(said[-1])
    return ""


@kept_per_function
def _returns(function: Function) -> tuple[Event, ...]:
    """Its returns under a condition, in their order."""
    return tuple(event for event in function.events if event.kind == "return" and event.block.branches)


def untaken_by(truth: Truth, function: Function, branches: Iterable[Branch]) -> str:
    """The setting by which one of the `branches` around a statement of `function` is not taken."""
    for branch in branches:
        if branch.kind != "if":
            continue
        for number, test in enumerate(branch.tests[: branch.arm + 1]):
            said: list[Key] = []
            if is_true(truth, function, test, branch, said) is (number < branch.arm) and _are_sure(truth, said):
                return _said(said[-1])
    return ""


def _are_sure(truth: Truth, said: list[Key]) -> bool:
    """No key is the default of a field that a section of the configuration sets: which class the section fills is not seen."""
    defaults = (one.name for one in said if one.source is not None and one.source.how == "default")
    return bool(said) and truth.set_further_down.isdisjoint(defaults)


def said_off(truth: Truth, function: Function, branch: Branch) -> str:
    """The setting by which the test of the arm does not hold."""
    said: list[Key] = []
    test = branch.test
    is_false = test is not None and is_true(truth, function, test, branch, said) is False
    return _said(said[-1]) if is_false and _are_sure(truth, said) else ""


def is_taken(truth: Truth, function: Function, branch: Branch, said: list[Key] | None = None) -> bool:
    """The settings are known to choose the arm; the keys that decided are added to `said`."""
    truths = [
        is_true(truth, function, test, branch, [] if said is None else said) for test in branch.tests[: branch.arm + 1]
    ]
    return truths == [*[False] * branch.arm, True][: len(branch.tests)]


def _statement_at(function: Function, line: int) -> Event | None:
    """The first statement that begins at `line`, else the last one before it."""
    exact = next((event for event in function.events if event.line == line), None)
    before = (event for event in function.events if event.line < line)
    return exact or max(before, key=lambda one: one.line, default=None)


def _said(key: Key) -> str:
    source = key.source
    where = f"{source.path}:{source.line}" if source is not None and source.path else "given command"
    return f"{key.name} = {key.value or repr('')} ({where})"
