"""Parameters that decide branches and are worth the same in every call: name == "r50" in get_model(cfg.network)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from trainsleuth.facts import Function, Site

from .branches import Settled, parameter_key, value_of
from .program import Program

MAX_CALLS = 24  # of one function: of more it is not asked what they give
_TESTS = re.compile(
    rb"\b(?:if|elif)\b[^\n]{0,80}?\b(\w+)(?:\.(?:lower|upper|strip|startswith)\(|\s*(?:==|!=|\bin\b|\bnot in\b))"
)
_TESTED = re.compile(rb"\b(?:in|==|!=)\s*(\w+)\b")


def with_parameters(program: Program, known: Mapping[str, str]) -> dict[str, str]:
    """`known` settings, and such parameters of the functions that are reached."""
    found = dict(known)
    for function in program.entry.reach.distance if known else ():
        tested = {*function.source.found(_TESTS), *function.source.found(_TESTED)} if function.parameters else set()
        for parameter in function.parameters:
            if parameter.name.encode() in tested and parameter.name != function.self_name:
                values = set(_given(program, found, function, parameter.name))
                only = values.pop() if len(values) == 1 else None
                if only is not None:
                    found[parameter_key(function, parameter.name)] = only
    return found


def _given(program: Program, known: Mapping[str, str], function: Function, name: str) -> Iterator[str | None]:
    """What each call gives, its default where it gives nothing; None where that cannot be told, or there are too many."""
    place = [one.name for one in function.parameters if one.name != function.self_name].index(name)
    default = function.parameter(name)
    for number, site in enumerate(islice(program.values.calls.of(function), MAX_CALLS + 1)):
        if number == MAX_CALLS:
            yield None
        if not is_call_of(program, site, function):
            continue
        given = site.call.argument(place, name) or (default.default if default is not None else None)
        yield None if given is None or spreads(site) else value_of(given, Settled(known, program.index, site.function))


def is_call_of(program: Program, site: Site, function: Function) -> bool:
    if site.function not in program.entry.reach.distance:
        return False
    made = program.index.class_of(function) if function.name == "__init__" else function
    return made in program.graph.targets(site.function, site.call)


def spreads(site: Site) -> bool:
    return any(part.kind in ("star", "doublestar") for part in site.call.parts[1:])
