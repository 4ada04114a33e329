"""What a property gives for an attribute that nothing set: if hasattr(self, "_beta"): return self._beta, then return 0.9."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Event, Expr, Function

from ...calling.held import is_property
from ...program import Program
from ...recipe.constants import constant_text
from ..forms.literals import is_literal, text_of
from ..records import Definition


def unset(program: Program) -> Iterator[Definition]:
    """Of each property that the program reads: its value where the attribute of its name is not there."""
    for function, _ in program.functions():
        if function.decorators and is_property(function) and (said := _without(function)) is not None:
            if value := text_of(said) if is_literal(said) else constant_text(program.index, function, said):
                yield Definition(function.name, function.path, said.line, value)


def _without(function: Function) -> Expr | None:
    """What it returns below `if hasattr(self, "_its_name")`, in the other arm, or under `if not hasattr(...)`."""
    returns = [event for event in function.events if event.kind == "return"]
    asked = [event for event in returns if _asks(function, event)]
    other = [event for event in returns if event not in asked]
    if len(without := [event for event in other if _asks(function, event, "not")]) == 1:
        return without[0].value
    if len(other) != 1 or len(other[0].block.branches) > 1:
        return None
    last, value = other[0], other[0].value
    if not asked:
        return _in_one_line(function, value) if value is not None and len(returns) == 1 else None
    branch = last.block.branches[-1] if last.block.branches else None
    is_other_arm = branch is not None and branch.id in {one.id for event in asked for one in event.block.branches}
    return value if branch is None or is_other_arm else None


def _asks(function: Function, event: Event, how: str = "") -> bool:
    tests = [one.test for one in event.block.branches if one.test is not None]
    if how:
        tests = [one.parts[0] for one in tests if one.kind == "unary" and one.text == how]
    return any(_is_whether_set(function, one) for one in tests)


def _is_whether_set(function: Function, test: Expr) -> bool:
    """hasattr(self, "_beta"), also with more behind `and`."""
    if test.kind == "boolean" and test.text == "and":
        return _is_whether_set(function, test.parts[0])
    return test.kind == "call" and test.callee == "hasattr" and _is_own(function, test)


def _is_own(function: Function, call: Expr) -> bool:
    of = [one.text for one in call.arguments[:2]]
    return len(of) == 2 and of[0] == function.self_name and of[1].lstrip("_") == function.name.lstrip("_")


def _in_one_line(function: Function, value: Expr) -> Expr | None:
    """self._beta if hasattr(self, "_beta") else 0.9, getattr(self, "_beta", 0.9)"""
    if value.kind == "choice" and _is_whether_set(function, value.parts[1]):
        return value.parts[2]
    if value.kind == "call" and value.callee == "getattr" and len(value.arguments) == 3 and _is_own(function, value):
        return value.arguments[2]
    return None
