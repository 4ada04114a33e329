"""What stands around a guarded statement: what gives its condition a name, and how its block is left."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Event, Function


def naming_lines(function: Function, event: Event) -> Iterator[int]:
    """Lines above `event` that bind a plain name of the tests it stands under to a test."""
    yield from (one.line for one in naming(function, event))


def jump_after(function: Function, event: Event) -> str:
    """ "continue :477": how a guarded block is left behind `event`; "" when it is not."""
    if not event.block.branches:
        return ""
    branches = [(branch.id, branch.arm) for branch in event.block.branches]
    for one in function.events:
        inside = [(branch.id, branch.arm) for branch in one.block.branches] == branches
        if one.line > event.line and inside and one.kind in _JUMPS and one.block.loops == event.block.loops:
            return f"{one.kind} :{one.line}"
    return ""


_JUMPS = ("continue", "break", "raise")


def naming(function: Function, event: Event) -> Iterator[Event]:
    wanted = {
        part.text
        for branch in event.block.branches[-2:]
        for test in branch.tests[: branch.arm + 1]
        for part in test.walk()
        if part.kind == "path" and "." not in part.text
    }
    for one in function.events if wanted else ():
        if one.line < event.line and one.kind == "assign" and one.value is not None:
            if one.value.kind in ("boolean", "compare") and any(target.text in wanted for target in one.targets):
                yield one
