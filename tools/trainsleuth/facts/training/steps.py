"""Which optimizers surely step, by the calls that made them, and which are surely cleared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..memo import kept_per_index
from ..naming.sites import Site, is_test
from ..records import Expr
from ..tracing.making import made_at
from ..tracing.things import Spot
from .effects import Effect
from .order import steps_optimizer
from .roles import stepped

if TYPE_CHECKING:
    from ..index import Index


@kept_per_index
def stepping(index: Index) -> dict[Expr, Site]:
    """Each with a place where it steps."""
    found: dict[Expr, Site] = {}
    for site in index.calls("step"):
        spot = Spot(site.function, site.position)
        if not is_test(site.function.path):
            effect = Effect("step", "", site.position, spot, site.call)
            if steps_optimizer(index, effect) == "sure":
                _take(index, found, stepped(index, site.call, spot), site)
    return found


@kept_per_index
def cleared(index: Index) -> dict[Expr, Site]:
    """Each with a place where zero_grad() is called on it, or on what may be it."""
    found: dict[Expr, Site] = {}
    for site in index.calls("zero_grad"):
        if not is_test(site.function.path):
            _take(index, found, site.call.receiver, site)
    return found


def _take(index: Index, found: dict[Expr, Site], optimizer: Expr | None, site: Site) -> None:
    if optimizer is not None:
        for made in made_at(index, optimizer, Spot(site.function, site.position)):
            found.setdefault(made, site)
