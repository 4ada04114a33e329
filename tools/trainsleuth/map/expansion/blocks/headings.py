"""The line above the statements of a function: what it is, and where the program calls it."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import MODULE_BODY, Function, written

from ...calling.edges import DIRECT
from ...configuration import Truth
from ...configuration.use.untaken import untaken
from ...drawing.statements import conditions, event_at
from ...program import Program

MAX_CALLERS = 2
MAX_PARAMETERS = 5


def heading(program: Program, truth: Truth, function: Function) -> str:
    """ "  in build(cfg) :12, called at train.py:30 when cfg.build" """
    if function.name == MODULE_BODY:
        return ""
    said = function.qualname.removesuffix(".<class>")
    if function.qualname == f"{function.name}.<class>" or (not function.parameters and function.name[:1].isupper()):
        return f"  class {said} :{function.line}"
    names = [one.kind + one.name for one in function.parameters if one.name != function.self_name]
    more = ", …" if len(names) > MAX_PARAMETERS else ""
    calls = list(dict.fromkeys(_calls(program, truth, function)))[:MAX_CALLERS]
    unseen = "" if program.is_reached(function) else ", no call of it was seen"
    where = ", called at " + ", ".join(calls) if calls else unseen
    marks = "".join(f", {one}" for one in _marks(function))
    return f"  in {said}({', '.join(names[:MAX_PARAMETERS])}{more}) :{function.line}{marks}{where}"


def _marks(function: Function) -> Iterator[str]:
    """Decorators that say how it runs: @torch.no_grad(), @ray.remote(num_cpus=1)."""
    for mark in function.decorators:
        if mark.last not in _NOMINAL:
            yield f"@{written(mark, MARK)}"


MARK = 40  # characters of a decorator
_NOMINAL = ("property", "staticmethod", "classmethod", "abstractmethod", "override", "cached_property", "setter")


def _calls(program: Program, truth: Truth, function: Function) -> Iterator[str]:
    """Where it is called, the way from the entry first, then what is near it."""
    distance, way = program.entry.reach.distance, program.entry.reach.parents.get(function)
    found = [one for one in program.callers(function) if not untaken(truth, *one)]
    first = way[0] if way is not None else None
    if not found and way is not None and way[1].position >= 0 and way[1].cost == DIRECT:
        found = [(way[0], way[0].events[way[1].position].line)]  # through an object: noam(optimizer)
    near = sorted(found, key=lambda one: (one[0] is not first, distance.get(one[0], len(distance))))
    for place, (caller, line) in enumerate(near):
        where = f":{line}" if caller.path == function.path else f"{caller.path}:{line}"
        event = event_at(caller, line) if not place else None
        when = conditions(event[1]) if event is not None else ""
        yield f"{where} when {when}" if 0 < len(when) < 90 else where
