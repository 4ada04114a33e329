"""Where the names are bound by which the training step runs networks: self.net = Net.from_pretrained(path)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainsleuth.facts import Function, bindings

from ..loop.quiet import is_quiet
from ..program import Program


def trained_names(program: Program) -> Mapping[tuple[Function, int], int]:
    """(function, line) of what is bound to such a name, with how many networks are run between it and the loss; none of a
    network that is run without gradients.
    """
    run = (one for one in program.training.stages if one.role == "forward" and not one.hops)
    found: dict[tuple[Function, int], int] = {}
    names = dict.fromkeys(
        (stage.function, call.callee)
        for stage in run
        if not is_quiet(stage.event)
        for call in stage.event.calls
        if call.line == stage.line and call.parts[0].kind == "path"
    )
    for rank, (function, name) in enumerate(names):
        for place in _bound(program, function, name):
            found.setdefault(place, rank)
    return found


def _bound(program: Program, function: Function, name: str) -> Iterator[tuple[Function, int]]:
    owner = program.index.class_of(function)
    found = [(function, one) for one in bindings(function).get(name, ())]
    own = name.removeprefix(f"{function.self_name}.") if function.self_name else name
    for cls in program.index.lineage(owner) if owner is not None and own != name else ():
        found += program.index.hierarchy.attribute_bindings(cls, own)
    for where, one in found:
        if one.value is not None and one.value.kind == "call" and not one.items:
            yield where, where.events[one.position].line
