"""Parameters that decide branches and are worth the same in every call: name == "r50" in get_model(cfg.network)."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from trainsleuth.facts import Event, Expr, Function, Site, bindings

from ..calling.graph import Graph
from ..naming.tables import NAME_KEYS
from .branches import OR, Settled, asked_key, is_not_chosen, parameter_key, section_key, value_of

MAX_HANDED_ON = 3
MAX_CALLS = 24  # of one function: of more it is not asked what they give
_TESTS = re.compile(
    rb"\b(?:if|elif)\b[^\n]{0,80}?\b(\w+)(?:\.(?:lower|upper|strip|startswith)\(|\s*(?:==|!=|\bin\b|\bnot in\b))"
)
_TESTED = re.compile(rb"\b(?:in|==|!=)\s*(\w+)\b")
_LOOKED_UP = re.compile(rb"getattr\([\w.]+,[ ]?(\w+)[,).]")
_KEY = re.compile(rb"[A-Z_]\[(\w+)\]")


def with_parameters(graph: Graph, reached: Collection[Function], known: Mapping[str, str]) -> dict[str, str]:
    """`known` settings, and such parameters of the `reached` functions."""
    found = dict(known)
    for function in reached if known else ():
        tested = _tested(function) if function.parameters else set()
        section = filled_by(function)
        if section is not None:
            for parameter in function.parameters:
                if (said := known.get(f"{section}{parameter.name}")) is not None:
                    found[parameter_key(function, parameter.name)] = said
            continue
        for parameter in function.parameters:
            if parameter.name.encode() in tested and parameter.name != function.self_name:
                values = set(_given(_Calling(graph, reached), found, function, parameter.name))
                only = values.pop() if len(values) == 1 else None
                if only is not None:
                    found[parameter_key(function, parameter.name)] = only
                if only is not None and _is_kept(Settled(found, graph.index, function), parameter.name, only):
                    found[asked_key(function, parameter.name)] = only
    return found


def is_never_asked(graph: Graph, reached: Collection[Function], function: Function, event: Event) -> bool:
    """It stands in an arm that parameters decide, and what every call gives them does not lead there."""
    known: dict[str, str] = {}
    for test in (one.test for one in event.block.branches if one.kind == "if" and one.test is not None):
        for part in test.walk():
            parameter = function.parameter(part.text) if part.kind == "path" else None
            if parameter is not None and not parameter.kind and part.text not in bindings(function):
                values = set(_given(_Calling(graph, reached), {}, function, part.text))
                only = values.pop() if len(values) == 1 else None
                known.update({parameter_key(function, part.text): only} if only is not None else {})
    return is_not_chosen(event, Settled(known, graph.index, function))


def _is_kept(settled: Settled, name: str, value: str) -> bool:
    """A parameter is set anew, and only in arms that are left with this value: elif name.startswith("my_"): name = name[3:]"""
    bound = bindings(settled.function).get(name, ())
    with_it = settled._replace(known={**settled.known, asked_key(settled.function, name): value})
    return bool(bound) and all(is_not_chosen(settled.function.events[one.position], with_it) for one in bound)


def filled_by(function: Function) -> str | None:
    """The section that a library fills the parameters of the function from, by their names; "" is the whole."""
    return next((_OPTIONS[one.last] for one in function.decorators if one.last in _OPTIONS), None)


# of a function that click runs with what the command gives, Sacred with the settings, and GraphGym with what a section says
_OPTIONS = {"option": "", "argument": "", "main": "", "automain": "", "command": "", "register_loader": "dataset."}


def _tested(function: Function) -> set[bytes]:
    return {name for pattern in (_TESTS, _TESTED, _LOOKED_UP, _KEY) for name in function.source.found(pattern)}


class _Calling(NamedTuple):
    """Whose calls are asked, and from where."""

    graph: Graph
    reached: Collection[Function]


def _given(
    calling: _Calling, known: Mapping[str, str], function: Function, name: str, left: int = MAX_HANDED_ON
) -> Iterator[str | None]:
    """What each call gives, its default where it gives nothing; None where that cannot be told, or there are too many.

    `left`: callers in a row that may only hand on what they are given.
    """
    place = [one.name for one in function.parameters if one.name != function.self_name].index(name)
    default = function.parameter(name)
    for number, site in enumerate(islice(calling.graph.values.calls.of(function), MAX_CALLS + 1)):
        if number == MAX_CALLS:
            yield None
        if not is_call_of(*calling, site, function):
            continue
        settled = Settled(known, calling.graph.index, site.function)
        if is_not_chosen(site.event, settled):
            continue
        given = site.call.argument(place, name)
        said = _of_section(site, name, settled) if spreads(site) else ""
        if said is None and given is None and name not in NAME_KEYS:
            said = known.get(f".{name}")  # all that are called so agree
        given = given or (default.default if default is not None and not said else None)
        if left and given is not None and _is_handed_on(given, site.function):
            yield from _given(calling, known, site.function, given.text, left - 1)
            continue
        yield value_of(given, settled) if said is not None and given is not None else said or None


def _is_handed_on(given: Expr, function: Function) -> bool:
    """A parameter as it came in."""
    is_name = given.kind == "path" and given.text != function.self_name
    return is_name and function.parameter(given.text) is not None and given.text not in bindings(function)


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


def is_call_of(graph: Graph, reached: Container[Function], site: Site, function: Function) -> bool:
    if site.function not in reached:
        return False
    made = graph.index.class_of(function) if function.name == "__init__" else function
    return made in graph.targets(site.function, site.call)


def spreads(site: Site) -> bool:
    return any(part.kind in ("star", "doublestar") for part in site.call.parts[1:])
