"""The statements that give a condition its name: do_save = step % interval == 0."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Event, Function


def naming_lines(function: Function, event: Event) -> Iterator[int]:
    """Lines above `event` that bind a plain name of the tests it stands under to a test."""
    yield from (one.line for one in naming(function, event))


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
