"""Parameters that decide branches and are worth the same in every call: name == "r50" in get_model(cfg.network)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from trainsleuth.facts import Function, Site

from .branches import OR, Settled, parameter_key, section_key, value_of
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
        settled = Settled(known, program.index, site.function)
        given = site.call.argument(place, name)
        said = _of_section(site, name, settled) if spreads(site) else ""
        given = given or (default.default if default is not None and not said else None)
        yield value_of(given, settled) if said is not None and given is not None else said or None


def _of_section(site: Site, name: str, settled: Settled) -> str | None:
    """What the section says that a call spreads: build(**net) where net is the section "net"; "" where it says nothing,
    None where the call spreads something else.
    """
    spread = spread_by(site)
    section = settled.known.get(section_key(site.function, spread), "") if spread else ""
    return settled.known.get(f"{section}.{name}", "") if section and OR not in section else None


def spread_by(site: Site) -> str:
    """The name that a call spreads over its keywords, if it spreads nothing else; "" otherwise."""
    spread = [part for part in site.call.parts[1:] if part.kind in ("star", "doublestar")]
    is_name = len(spread) == 1 and spread[0].kind == "doublestar" and spread[0].parts[0].kind == "path"
    return spread[0].parts[0].text if is_name else ""


def is_call_of(program: Program, site: Site, function: Function) -> bool:
    if site.function not in program.entry.reach.distance:
        return False
    made = program.index.class_of(function) if function.name == "__init__" else function
    return made in program.graph.targets(site.function, site.call)


def spreads(site: Site) -> bool:
    return any(part.kind in ("star", "doublestar") for part in site.call.parts[1:])
