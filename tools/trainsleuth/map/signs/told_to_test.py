"""Calls that tell a function with a loop whether its rounds are a test: runner.run(test_mode=True)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Expr, Function

from ..program import Program

_TEST = re.compile(r"(?:is_)?(?:test|testing|eval|evaluate|evaluation|validate|validation)(?:_mode)?")


def tests(program: Program, function: Function) -> Iterator[int]:
    """Lines of those that say it is."""
    for event in function.events:
        for call in event.calls:
            if is_told(call, "True") and any(
                isinstance(one, Function) and one.loops for one in program.graph.targets(function, call)
            ):
                yield call.line


def is_told(call: Expr, value: str) -> bool:
    """A call has a keyword for a test with this value."""
    given = (one for one in call.parts[1:] if one.kind == "keyword" and _TEST.fullmatch(one.text))
    return any(one.parts[0].text == value for one in given)
