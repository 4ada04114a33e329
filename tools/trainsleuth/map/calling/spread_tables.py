"""Arguments that stand in a table which a call spreads: made(**chosen), below chosen = dict(net_class=net_class, depth=2)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from trainsleuth.facts import MODULE_BODY, Expr, Index, Site
from trainsleuth.facts.memo import kept_per_index
from trainsleuth.facts.naming.sites import call_sites

from .knowledge import Knowledge

_SPREADS = re.compile(rb"\*\*")


def spread_as(index: Index, known: Knowledge, name: str) -> tuple[tuple[Site, Expr], ...]:
    """(table, value) of those that hold something under `name`: of functions that run, where these are known."""
    every = [one for one in _held(index).get(name, ()) if known.is_loaded(one[0].function.path)]
    running = [one for one in every if one[0].function in known.reached]
    return tuple(running if known.reached else every)


@kept_per_index
def _held(index: Index) -> Mapping[str, list[tuple[Site, Expr]]]:
    """By the key, what dict(...) holds in functions that spread something; names alone."""
    found: dict[str, list[tuple[Site, Expr]]] = {}
    for function in index.sites.may_call("dict"):
        may_spread = function.name != MODULE_BODY and function.source.holds(_SPREADS)
        calls = call_sites(function) if may_spread else {}
        spreads = any(part.kind == "doublestar" for sites in calls.values() for one in sites for part in one.call.parts)
        for site in calls.get("dict", ()) if spreads else ():
            for part in site.call.parts[1:]:
                if part.kind == "keyword" and part.parts[0].kind == "path":
                    found.setdefault(part.text, []).append((site, part.parts[0]))
    return found
