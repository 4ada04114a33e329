"""Which weights are held fixed: the statements that switch requires_grad, with their conditions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from trainsleuth.facts import Event

from ..configuration import Truth
from ..parts import source_lines
from ..program import Program
from ..standing import off
from ..statements import conditions, statement
from .choosing import NEAR
from .writing import Block

MOST = 10
WIDTH = 110


def frozen_blocks(program: Program, truth: Truth) -> Iterator[Block]:
    """One block for each statement that runs, nearest to the entry first."""
    found = (
        (function, event)
        for function, weight in program.functions()
        if weight > NEAR
        for event in function.events
        if _switches(event) and not off(program, truth, function, event.line)
    )
    for count, (function, event) in enumerate(islice(found, MOST)):
        when = conditions(event)
        text = statement(source_lines(program.index, function.path), event.line, width=WIDTH)
        line = f"  {function.path}:{event.line} {text}" + (f" · when {when}" if when else "")
        item = {"path": function.path, "line": event.line, "text": text, "when": when}
        yield Block(("# frozen and thawed",), (count,), (line,), item)


def _switches(event: Event) -> bool:
    if event.kind == "expression":
        return any(
            call.last in ("requires_grad_", "requires_grad", "freeze") or call.last.startswith("freeze_")
            for call in event.calls
        )
    return event.kind == "assign" and any(target.last == "requires_grad" for target in event.targets)
