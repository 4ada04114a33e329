"""Calls of loss functions, however they were come by: functional, module, attribute, argument, default."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..naming.names import External
from ..naming.sites import Site, is_test
from ..records import Class, Expr, Function
from ..running.contradiction import is_made_apart
from ..tracing.callers import Target, external_name
from ..tracing.things import Instance, Literal, Spot, Thing, Unknown
from .operations import is_loss_layer, is_torch

if TYPE_CHECKING:
    from ..index import Index

_LOSS_NAME = re.compile(r"loss|criterion|(^|_)(ce|bce|xent)(_|$)", re.IGNORECASE)


class LossCall(NamedTuple):
    """One call that computes a loss. `loss`: last name of the torch class or function, "" when it is not
    resolved.

    `spots`: the contexts in which it is that loss, each one consistent way to get there; `why`: when there
    is none. `also`: names of others that a condition may choose in its place.
    """

    site: Site
    loss: str
    spots: tuple[Spot, ...]
    why: str = ""
    also: tuple[str, ...] = ()


def loss_calls(index: Index, *names: str, within: Collection[Function] | None = None) -> Iterator[LossCall]:
    """Every call outside tests of a torch loss called `names` (classes and functions), resolved or likely.

    With `within`, those in these functions: the others are not looked at.
    """
    wanted = frozenset(names)
    for site in index.calls_holding(wanted):
        if is_test(site.function.path) or (within is not None and site.function not in within):
            continue
        things, lasts = index.called_at.of(site)
        if wanted.isdisjoint(lasts) and not all(isinstance(thing, Unknown) for thing in things):
            continue
        found = _resolved(index, site, wanted)
        if found is not None:
            yield found


def _resolved(index: Index, site: Site, wanted: frozenset[str]) -> LossCall | None:
    callee = site.call.parts[0]
    anyhow = tuple(thing for thing in index.called_at.of(site)[0] if not _is_tested_away(index, site, thing))
    if not any(_loss_name(index, thing, site.call, wanted) for thing in anyhow):
        return _unresolved(site, anyhow)
    spots: list[Spot] = []
    losses: set[str] = set()
    ways = [Spot(site.function, site.position, frame) for frame in index.calling.contexts(site.function)]
    for spot in [one for one in ways if not index.flow.is_passed_over(one)] or ways:
        things = [
            thing
            for thing in index.objects.of(callee, spot)
            if not (_is_nothing(thing) or _is_tested_away(index, site, thing) or is_made_apart(thing, spot))
        ]
        called = {_loss_name(index, thing, site.call, wanted) for thing in things}
        if called and None not in called and "" not in called:
            spots.append(spot)
            losses |= {name for name in called if name}
    if spots:
        name, *also = sorted(losses)
        return LossCall(site, name, tuple(spots), also=tuple(also))
    return LossCall(site, "", (), f"{site.call.callee or site.call.last} is this loss only in some ways")


class CalledAt:
    """What calls may call, whoever runs them: kept, since many checks ask about the same calls."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self._known: dict[Expr, tuple[tuple[Thing, ...], frozenset[str]]] = {}

    def of(self, site: Site) -> tuple[tuple[Thing, ...], frozenset[str]]:
        """The things, and the last names of what torch has of them and of what stands above those of the project."""
        if site.call not in self._known:
            things = self.index.objects.of(site.call.parts[0], Spot(site.function, site.position))
            names = {external_name(thing) for thing in things}
            for thing in things:
                if isinstance(thing, Instance) and isinstance(thing.kind, Class):
                    names.update(self.index.external_bases(thing.kind))
            self._known[site.call] = things, frozenset(name.rpartition(".")[2] for name in names)
        return self._known[site.call]


def _unresolved(site: Site, things: tuple[Thing, ...]) -> LossCall | None:
    """A call that sounds like a loss and of which nothing is known; None when it is something else."""
    whys = [thing.why for thing in things if isinstance(thing, Unknown)]
    if len(whys) < len(things) or not _LOSS_NAME.search(site.call.last) or not site.call.arguments:
        return None
    why = whys[0] if whys else "its definition was not found"
    return LossCall(site, "", (), f"which loss {site.call.callee or site.call.last} is: {why}")


def _loss_name(index: Index, thing: Thing, call: Expr, wanted: frozenset[str]) -> str | None:
    """The loss that calling `thing` computes; None: something else; "": making a loss object is not
    computing it.
    """
    name = external_name(thing)
    last = name.rpartition(".")[2]
    if is_torch(name) and last in wanted:
        return last if isinstance(thing, Instance) or not last[:1].isupper() else ""
    if isinstance(thing, Instance) and isinstance(thing.kind, Class):
        bases = {base.rpartition(".")[2] for base in index.external_bases(thing.kind)} & wanted
        own = [t for t in index.calling.called(thing, call, Spot(thing.kind.body, 0)) if isinstance(t, Target)]
        return sorted(bases)[0] if bases and not own else None
    return None


def _is_nothing(thing: Thing) -> bool:
    return isinstance(thing, Literal) and thing.expr.text == "None"


def _is_tested_away(index: Index, site: Site, thing: Thing) -> bool:
    """The call stands in a branch where isinstance() says that what it calls is of another class of torch's losses."""
    name = external_name(thing)
    for branch in site.event.block.branches if is_loss_layer(name) else ():
        for arm, test in enumerate(branch.tests):
            tested = _tested_class(index, site, test)
            if tested and (tested == name.rpartition(".")[2]) is (arm < branch.arm):
                return True
    return False


def _tested_class(index: Index, site: Site, test: Expr) -> str:
    """Last name of the loss of torch in `isinstance(what is called, loss)`, also with more behind `and`, else ""."""
    if test.kind == "boolean" and test.text == "and":
        return next(filter(None, (_tested_class(index, site, part) for part in test.parts)), "")
    if test.kind != "call" or test.callee != "isinstance" or len(test.parts) != 3:
        return ""
    what, kind = test.parts[1:]
    found = index.resolve(site.function, kind.text) if what.text == site.call.parts[0].text else None
    last = found.name.rpartition(".")[2] if isinstance(found, External) and is_loss_layer(found.name) else ""
    return last if not last.startswith("_") else ""
