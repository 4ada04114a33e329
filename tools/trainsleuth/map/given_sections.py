"""Parameters that hold one section of the configuration: cfg of build_model(cfg.model), where cfg.name is model.name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from trainsleuth.facts import Expr, Function

from .branches import OR, Settled, bound_once, key_asked, section_key
from .given_parameters import MAX_CALLS, is_call_of, spreads
from .program import Program

_TESTED = re.compile(rb"\b(?:if|elif)\b[^\n]{0,80}?\b(\w+)(?:\.\w|\[[\"'])")


def with_sections(program: Program, known: Mapping[str, str]) -> dict[str, str]:
    """`known` settings, and for such parameters of reached functions that test what they hold, its sections."""
    found = dict(known)
    for function in program.entry.reach.distance if known else ():
        tested = set(function.source.found(_TESTED)) if function.parameters else set()
        for parameter in function.parameters:
            if parameter.name.encode() in tested and parameter.name != function.self_name:
                sections = set(_given(program, found, function, parameter.name))
                if sections and None not in sections and "" not in sections:
                    found[section_key(function, parameter.name)] = OR.join(sorted(one for one in sections if one))
    return found


def _given(program: Program, known: Mapping[str, str], function: Function, name: str) -> Iterator[str | None]:
    """The section that each call gives, "" for the whole; None where that cannot be told."""
    place = [one.name for one in function.parameters if one.name != function.self_name].index(name)
    for number, site in enumerate(islice(program.values.calls.of(function), MAX_CALLS + 1)):
        if number == MAX_CALLS:
            yield None
        if is_call_of(program, site, function):
            given = site.call.argument(place, name)
            settled = Settled(known, program.index, site.function)
            yield None if given is None or spreads(site) else _section(given, settled)


def _section(given: Expr, settled: Settled) -> str | None:
    given = bound_once(given, settled) or given
    text = given.text if given.kind == "path" else key_asked(given)
    head, _, rest = text.removeprefix("self.").partition(".")
    above = settled.known.get(section_key(settled.function, head), "")
    section = ".".join(filter(None, (above, rest)))
    return section if section and any(key.startswith(f"{section}.") for key in settled.known) else None
