"""Which weights are held fixed: the statements that switch requires_grad, with their conditions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from trainsleuth.facts import Class, Event, Expr, Function

from ...configuration import Truth
from ...drawing.statements import conditions, statement
from ...loop.networks import is_network
from ...parts import source_lines
from ...program import Program
from ...programs.standing import off
from ...recipe.branches import HOLDS
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
        if not _is_of_other_network(program, function)
    )
    for count, (function, event) in enumerate(islice(found, MOST)):
        when = conditions(event)
        text = statement(source_lines(program.index, function.path), event.line, width=WIDTH)
        line = f"  {function.path}:{event.line} {text}" + (f" · when {when}" if when else "")
        item = {"path": function.path, "line": event.line, "text": text, "when": when}
        yield Block(("# frozen and thawed",), (count,), (line,), item)


def _is_of_other_network(program: Program, function: Function) -> bool:
    """A method of a network that the recipe does not choose, where it chooses networks."""
    owner, index = program.index.class_of(function), program.index
    if owner is None or not is_network(index, owner):
        return False
    targets = [one.target for one in program.choices if isinstance(one.target, Class) and is_network(index, one.target)]
    chosen = {cls for target in targets for cls in index.lineage(target)}
    return bool(chosen) and owner not in chosen and all(function.path != one.path for one in chosen)


def _is_configuration(holder: Expr | None) -> bool:
    """cfg.freeze() of yacs makes the settings read-only."""
    return holder is not None and HOLDS.search(holder.last) is not None


def _switches(event: Event) -> bool:
    if event.kind == "expression":
        return any(
            call.last in ("requires_grad_", "requires_grad")
            or (call.last == "freeze" and not _is_configuration(call.receiver))
            or (call.last.startswith("freeze_") and call.last != "freeze_support")  # of multiprocessing
            for call in event.calls
        )
    return event.kind == "assign" and any(target.text.endswith(".requires_grad") for target in event.targets)
