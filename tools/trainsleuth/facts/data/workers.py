"""The workers of a data loader: how many there are, and what they run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..naming.sites import Site
from ..records import Expr, Function
from ..tracing.numbers import option_default
from ..tracing.things import Literal, Spot
from .loaders import is_spread, option_given

if TYPE_CHECKING:
    from ..index import Index

_RUN_BY_WORKERS = ("__getitem__", "__call__", "__iter__", "forward")


def number_of_workers(index: Index, site: Site) -> int | None:
    """As written or given; 0 when nothing is; None when it is not resolved."""
    spot = Spot(site.function, site.position)
    found_at = option_given(index, site.call, spot, 5, "num_workers")
    if found_at is None:
        return None if is_spread(site.call) else 0
    given, spot = found_at
    things = index.objects.of(given, spot)
    found = {
        int(thing.expr.text)
        for thing in things
        if isinstance(thing, Literal) and thing.expr.kind == "number" and thing.expr.text.isdigit()
    }
    if len(found) == 1 and len(things) == 1:
        return found.pop()
    return option_default(index, given)


def is_drawn_from(index: Index, site: Site, seeding: Expr, by: Iterable[Function] | None = None) -> bool:
    """Something that a worker runs (`by`, or any that it may run) draws from the global generator that is seeded; torch's
    is drawn from everywhere.
    """
    family = seeding.callee.rpartition(".")[0]
    return family.startswith("torch") or any(
        call.callee.startswith(f"{family}.") and call is not seeding and call.last != "seed"
        for function in (by if by is not None else run_by_workers(index, site))
        for called in (function, *_own_helpers(index, function))
        for event in called.events
        for call in event.calls
    )


def run_by_workers(index: Index, site: Site) -> Iterator[Function]:
    """Wide: methods of data sets and transforms in the part of the project that the loader stands in."""
    part = index.part(site.function.path)
    for function in index.functions():
        if function.owner and function.name in _RUN_BY_WORKERS and index.part(function.path) == part:
            yield function


def _own_helpers(index: Index, function: Function) -> Iterator[Function]:
    cls = index.class_of(function)
    for name in function.called if cls is not None else ():
        if cls is not None and (helper := index.method(cls, name)) is not None:
            yield helper
        yield from (one for one in index.functions_named(name)[:4] if not one.owner)
