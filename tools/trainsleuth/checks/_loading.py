"""Data loaders: where they are made, with how many workers, over which dataset."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Expr, External, Index, Instance, Literal, Site, Spot

from ._numbers import option_default


def loader_sites(index: Index) -> Iterator[Site]:
    """Every call that surely makes a torch DataLoader."""
    for site in index.calls("DataLoader"):
        symbol = index.resolve(site.function, site.call.callee) if site.call.callee else None
        if isinstance(symbol, External) and symbol.name.startswith("torch") and "geometric" not in symbol.name:
            yield site


def loaders_gone_over(index: Index, source: Expr, spot: Spot) -> Iterator[Expr]:
    """The calls that make what a loop goes over, where these make data loaders."""
    if source.kind == "call" and source.last in ("enumerate", "tqdm", "iter", "track"):
        source = source.arguments[0] if source.arguments else source
    for thing in index.objects.of(source, spot):
        if isinstance(thing, Instance) and thing.call is not None and thing.call.last == "DataLoader":
            yield thing.call


def is_spread(call: Expr) -> bool:
    """Arguments come out of a dict or a list that is not written in the call."""
    return any(part.kind in ("star", "doublestar") for part in call.parts[1:])


def number_of_workers(index: Index, site: Site) -> int | None:
    """As written or given; 0 when nothing is; None when it is not resolved."""
    spot = Spot(site.function, site.position)
    given = site.call.argument(5, "num_workers")
    if given is None and is_spread(site.call):
        given, spot = _spread_out(index, site.call, spot)
        if given is None:
            return None
    if given is None:
        return 0
    things = index.objects.of(given, spot)
    found = {
        int(thing.expr.text)
        for thing in things
        if isinstance(thing, Literal) and thing.expr.kind == "number" and thing.expr.text.isdigit()
    }
    if len(found) == 1 and len(things) == 1:
        return found.pop()
    return option_default(index, given)


def _spread_out(index: Index, call: Expr, spot: Spot) -> tuple[Expr | None, Spot]:
    """The number of workers in **options, where these are one dict that is written out."""
    for part in call.parts[1:]:
        for member in index.members.of(part.parts[0], spot) if part.kind == "doublestar" else ():
            if member.key == "num_workers" and member.certain:
                return member.expr, member.spot
    return None, spot
