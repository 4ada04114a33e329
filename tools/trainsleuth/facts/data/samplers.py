"""Distributed samplers: which shuffle by the epoch, and who draws from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..naming.names import External
from ..naming.sites import Site, is_test
from ..records import MODULE_BODY, Class
from ..tracing.making import bound_names, derived, mentions
from ..tracing.things import Literal, Spot
from .loaders import is_spread

if TYPE_CHECKING:
    from ..index import Index

_OF_TORCH = "DistributedSampler"


def samplers_by_epoch(index: Index) -> Iterator[Site]:
    """Every call outside tests that surely makes a DistributedSampler, or one of the project below it whose order is
    that of its epoch.
    """
    own = {cls.name: cls for cls in index.classes() if _is_by_epoch(index, cls)}
    for site in index.calls(_OF_TORCH, *own):
        symbol = index.resolve(site.function, site.call.callee) if site.call.callee else None
        is_torch = isinstance(symbol, External) and symbol.name.startswith("torch")
        if (is_torch or symbol in own.values()) and not is_test(site.function.path):
            yield site


def _is_by_epoch(index: Index, cls: Class) -> bool:
    if not any(base.last.endswith("Sampler") for base in cls.bases):
        return False
    if not any(one.startswith("torch.") and one.endswith(f".{_OF_TORCH}") for one in index.external_bases(cls)):
        return False
    draws = index.method(cls, "__iter__")
    if draws is None:
        return True
    roots = (root for event in draws.events for root in (event.value, *event.targets) if root is not None)
    return any(part.text == f"{draws.self_name}.epoch" for root in roots for part in root.walk())


def shuffles(index: Index, site: Site) -> bool | None:
    """None when it is not resolved; a sampler that shuffles in one of its uses shuffles."""
    cls = index.resolve(site.function, site.call.callee)
    init = index.method(cls, "__init__") if isinstance(cls, Class) else None
    names = [one.name for one in init.parameters[1:]] if init is not None else []
    place = names.index("shuffle") if "shuffle" in names else 99 if names else 3
    given = site.call.argument(place, "shuffle")
    if given is None:
        taken = init.parameter("shuffle") if init is not None else None
        is_off = taken is not None and taken.default is not None and taken.default.text == "False"
        return None if is_spread(site.call) else not is_off
    things = index.objects.of(given, Spot(site.function, site.position))
    texts = {thing.expr.text if isinstance(thing, Literal) else "?" for thing in things}
    return True if "True" in texts else False if texts == {"False"} else None


def is_given_to_nobody(site: Site) -> bool:
    """A local name that nothing later in its function speaks of: the loader is made without it."""
    names = [target.text for target in site.event.targets]
    if not names or site.event.value is not site.call or any("." in name for name in names):
        return False
    later = site.function.events[site.position + 1 :]
    return site.function.name != MODULE_BODY and not any(mentions(event.value, names) for event in later)


def drawn_by(index: Index, site: Site) -> Class | None:
    """A class of the project, no loader of torch, that is given the sampler or what is made of it."""
    events = site.function.events
    for position in range(site.position + 1, len(events)):
        known = derived(site.function, bound_names(site.event), site.position + 1, position)
        for call in events[position].calls:
            symbol = index.resolve(site.function, call.callee) if call.callee else None
            if isinstance(symbol, Class) and any(mentions(part, known) for part in call.parts[1:]):
                bases = {base.rpartition(".")[2] for base in index.external_bases(symbol)}
                if not bases & {"DataLoader", "BatchSampler", "Sampler", "?"}:
                    return symbol
    return None


def stays_here(index: Index, site: Site) -> bool:
    """A loader for features or scores: it is neither returned, nor kept, nor given to a function of the project."""
    function = site.function
    if function.name == MODULE_BODY or any(effect.kind == "backward" for effect in index.effects.of(function)):
        return False
    names = derived(function, [t.text for t in site.event.targets if t.kind == "path"], site.position + 1)
    if site.event.kind != "assign" or not names or any("." in name for name in names):
        return False
    for event in function.events[site.position + 1 :]:
        if (
            event.kind == "return"
            and event.value is not None
            and event.value.kind != "each"
            and mentions(event.value, names)
        ):
            return False
        if any(
            index.functions_named(call.last) and any(mentions(part, names) for part in call.parts[1:])
            for call in event.calls
        ):
            return False
    return True
