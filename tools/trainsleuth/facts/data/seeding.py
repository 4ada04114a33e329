"""Seeds that code gives to random generators: where, and in the workers of a data loader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..records import Expr, Function
from ..tracing.making import makers
from ..tracing.things import Literal, Spot, Thing

if TYPE_CHECKING:
    from ..index import Index

_SEEDING = ("seed", "manual_seed")
_OF_ALL = ("np.random.seed", "numpy.random.seed", "random.seed", "torch.manual_seed")


class Seeding(NamedTuple):
    """A call that sets a seed, where it stands, and in which function (None: a lambda)."""

    call: Expr
    path: str
    function: Function | None
    parameters: frozenset[str]

    @property
    def seed(self) -> Expr:
        return self.call.arguments[0]


def sets_seed(call: Expr) -> bool:
    """Of some generator."""
    return call.kind == "call" and call.last in _SEEDING and bool(call.arguments)


def is_of_global_generator(seeding: Expr) -> bool:
    """The one that all code draws from: of numpy, of random, or of torch."""
    return seeding.callee in _OF_ALL


def seedings(index: Index, starting: Expr, spot: Spot) -> Iterator[Seeding]:
    """Narrow: of a worker_init_fn as far as it surely is that function or lambda."""
    for thing in index.objects.of(starting, spot):
        yield from _seedings_in(thing, spot.function.path)


def seedings_behind(index: Index, starting: Expr, spot: Spot) -> Iterator[Seeding]:
    """Wide: also of what it is a part of, or a choice between."""
    for made, at in makers(index, starting, spot):
        for one in _unfolded(made):
            yield from seedings(index, one, at)


def _seedings_in(thing: Thing, path: str) -> Iterator[Seeding]:
    if isinstance(thing, Function):
        names = frozenset(parameter.name for parameter in thing.parameters)
        calls = (call for event in thing.events for call in event.calls)
        yield from (Seeding(call, thing.path, thing, names) for call in calls if sets_seed(call))
    elif isinstance(thing, Literal) and thing.expr.kind == "lambda":
        names = frozenset(thing.expr.text.split(","))
        yield from (Seeding(call, path, None, names) for call in thing.expr.walk() if sets_seed(call))


def _unfolded(made: Expr) -> Iterator[Expr]:
    """init of partial(init, seed=seed) if seed is not None else None."""
    if made.kind == "choice":
        yield from _unfolded(made.parts[0])
        yield from _unfolded(made.parts[2])
    elif made.kind == "call" and made.last == "partial" and made.arguments:
        yield made.arguments[0]
    else:
        yield made
