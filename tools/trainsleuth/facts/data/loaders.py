"""Data loaders: the calls that make them, and which of them a loop goes over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..naming.names import External
from ..naming.sites import Site
from ..records import Expr
from ..tracing.making import makers
from ..tracing.things import Instance, Spot

if TYPE_CHECKING:
    from ..index import Index

_AROUND = ("enumerate", "tqdm", "iter", "track")


class Loader(NamedTuple):
    """The call that makes a data loader, and where it stands."""

    call: Expr
    spot: Spot


def loader_sites(index: Index) -> Iterator[Site]:
    """Every call that surely makes a torch DataLoader."""
    for site in index.calls("DataLoader"):
        symbol = index.resolve(site.function, site.call.callee) if site.call.callee else None
        if isinstance(symbol, External) and symbol.name.startswith("torch") and "geometric" not in symbol.name:
            yield site


def loaders_gone_over(index: Index, source: Expr, spot: Spot, wrappers: int = 1) -> Iterator[Loader]:
    """What a loop goes over, where data loaders are that; seen through so many of enumerate(tqdm(loader))."""
    for _ in range(wrappers):
        if source.kind == "call" and source.last in _AROUND and source.arguments:
            source = source.arguments[0]
    for thing in index.objects.of(source, spot):
        if isinstance(thing, Instance) and thing.call is not None and thing.spot is not None:
            if thing.call.last == "DataLoader":
                yield Loader(thing.call, thing.spot)


def is_spread(call: Expr) -> bool:
    """Arguments come out of a dict or a list that is not written in the call."""
    return any(part.kind in ("star", "doublestar") for part in call.parts[1:])


def option_given(index: Index, call: Expr, spot: Spot, place: int, name: str) -> tuple[Expr, Spot] | None:
    """What the call gives, itself or in **options where these are one dict that is written out."""
    given = call.argument(place, name)
    if given is not None:
        return given, spot
    for part in call.parts[1:]:
        if part.kind == "doublestar":
            for member in index.members.of(part.parts[0], spot):
                if member.key == name and member.certain:
                    return member.expr, member.spot
            made = list(makers(index, part.parts[0], spot))
            if len(made) == 1 and made[0][0].callee == "dict" and (given := made[0][0].keyword(name)) is not None:
                return given, made[0][1]
    return None
