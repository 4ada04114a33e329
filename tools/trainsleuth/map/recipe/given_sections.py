"""Parameters that hold one section of the configuration: cfg of build_model(cfg.model), where cfg.name is model.name."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterator, Mapping
from itertools import islice

from trainsleuth.facts import Expr, Function, Parameter, bindings

from ..calling.graph import Graph
from .branches import OR, Settled, bound_once, key_asked, section_key
from .given_parameters import MAX_CALLS, is_call_of, spread_by, spreads

_TESTED = re.compile(rb"\b(?:if|elif)\b[^\n]{0,80}?\b(\w+)(?:\.\w|\[[\"'])")
_SPREAD = re.compile(rb"[(,][ \t\n]*\*\*(\w+)[ \t\n]*[,)]")


def with_sections(graph: Graph, reached: Collection[Function], known: Mapping[str, str]) -> dict[str, str]:
    """`known` settings, and for such parameters of `reached` functions that test or hand on what they hold, its sections."""
    found = dict(known)
    for function in reached if known else ():
        source = function.source
        tested = {*source.found(_TESTED), *source.found(_SPREAD)} if function.parameters else set()
        for parameter in function.parameters:
            if parameter.name.encode() in tested and parameter.name != function.self_name and parameter.kind != "*":
                sections = set(_given(graph, reached, found, function, parameter))
                if sections and None not in sections and "" not in sections:
                    found[section_key(function, parameter.name)] = OR.join(sorted(one for one in sections if one))
    return found


def _given(
    graph: Graph, reached: Container[Function], known: Mapping[str, str], function: Function, parameter: Parameter
) -> Iterator[str | None]:
    """The section that each call gives, "" for the whole; None where that cannot be told."""
    place = [one.name for one in function.parameters if one.name != function.self_name].index(parameter.name)
    for number, site in enumerate(islice(graph.values.calls.of(function), MAX_CALLS + 1)):
        if number == MAX_CALLS:
            yield None
        if is_call_of(graph, reached, site, function):
            settled = Settled(known, graph.index, site.function)
            if parameter.kind == "**":  # what is left of a section over the keywords
                yield known.get(section_key(site.function, spread_by(site)))
            else:
                given = site.call.argument(place, parameter.name)
                yield None if given is None or spreads(site) else _section(given, settled)


def _section(given: Expr, settled: Settled) -> str | None:
    given = bound_once(given, settled) or given
    text = given.text if given.kind == "path" else key_asked(given) or _of_loaded(given, settled)
    head, _, rest = text.removeprefix("self.").partition(".")
    above = settled.known.get(section_key(settled.function, head), "")
    section = ".".join(filter(None, (above, rest)))
    return section if section and any(key.startswith(f"{section}.") for key in settled.known) else None


def _of_loaded(given: Expr, settled: Settled) -> str:
    """ "v.net" of v["net"] where v = yaml.load(file), and v["seed"] = 1 may follow."""
    if given.kind != "index" or len(given.parts) != 2 or given.parts[1].kind != "string":
        return ""
    name, key = given.parts[0].text, given.parts[1].text
    bound = [one for one in bindings(settled.function).get(name, ()) if one.kind != "append"]
    loaded = bound[0].value if len(bound) == 1 and not bound[0].items else None
    is_whole = loaded is not None and loaded.kind == "call" and _LOADS.search(loaded.last) is not None
    return f"{name}.{key}" if is_whole else ""


_LOADS = re.compile(r"(?:^|_)load(?:_|s?$)")
