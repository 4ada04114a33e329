"""A section of the configuration that the program reads, and then replaces by a table of its own."""

from __future__ import annotations

from trainsleuth.facts import Function, bindings

from ...configuration.forms.literals import is_table
from ...drawing.statements import conditions
from ...program import Program


def replaced_at(program: Program, section: str) -> str:
    """ "replaced at train.py:460 when sampler is not None"; "" when the section stays what it is."""
    if not section.isidentifier():
        return ""
    for function in program.index.files[program.entry.path].functions.values():
        if said := _replaced(function, section):
            return said
    return ""


def _replaced(function: Function, name: str) -> str:
    bound = bindings(function).get(name, ())
    reads = [one for one in bound if one.value is not None and one.value.kind in ("index", "path")]
    makes = [one for one in bound if one.value is not None and is_table(one.value)]
    if not reads or not makes:
        return ""
    event = function.events[makes[-1].position]
    when = conditions(event)
    return f"replaced at {function.path}:{event.line}" + (f" when {when}" if when else "")
