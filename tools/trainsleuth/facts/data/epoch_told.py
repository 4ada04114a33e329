"""Whether a part of the project tells samplers the epoch, under whatever name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..naming.sites import Site
from ..records import Event, Expr, Function
from ..running.nearby import other_programs
from ..wording import written
from .datasets import dataset_given

if TYPE_CHECKING:
    from ..index import Index

_EPOCH = re.compile(rb"\bset_epoch\b|\.epoch\b|\.seed\b|['\"]epoch['\"]|shuffle\s*\(")


def who_tells_epoch(index: Index, site: Site) -> str:
    """What tells the sampler of a call the epoch, or may tell it, in words; "" where nothing in its part of the project
    does. Programs that never come to the call do not count.
    """
    part, beside = index.part(site.function.path), other_programs(index, site.function)

    def is_near(function: Function) -> bool:
        return index.part(function.path) == part and function.path not in beside

    if any(is_near(other.function) for other in index.calls("set_epoch")):
        return "set_epoch() is called"
    near = (one for one in index.functions() if is_near(one) and one.source.holds(_EPOCH))
    if any(_sets(event, site) for function in near for event in function.events):
        return "the epoch is set by name or by attribute"
    return ""


def _sets(event: Event, site: Site) -> bool:
    """sampler.epoch = epoch, "set_epoch" as a string or a function that is handed on, or dataset.reshuffle()."""
    if _shuffles_data(event, site) or any("sampler" in said and "epoch" in said for said in _by_name(event)):
        return True
    own = {target.last for target in site.event.targets}
    if any(target.last == "epoch" and _is_sampler(target, own) for target in event.targets):
        return True
    if event.block.loops and any(target.last == "seed" and target.receiver for target in event.targets):
        return True
    said = event.value.walk() if event.value is not None else ()
    return any(one.text.endswith("set_epoch") for one in said if one.kind in ("path", "string"))


def _shuffles_data(event: Event, site: Site) -> bool:
    given = dataset_given(site.call)
    data = given.last if given is not None and given.kind == "path" else ""
    receivers = (call.receiver for call in event.calls if data and "shuffle" in call.last)
    return any(one is not None and one.last == data for one in receivers)


def _is_sampler(target: Expr, own: set[str]) -> bool:
    """Of an attribute that is set: its object is named like a sampler, or as the sampler was when it was made."""
    named = target.text.split(".")[:-1]
    return "sampler" in written(target).lower() or (bool(named) and named[-1] in own)


def _by_name(event: Event) -> Iterator[str]:
    """setattr(sampler, "epoch", 3), sampler.__dict__["epoch"]."""
    yield from (written(call) for call in event.calls if call.last == "setattr")
    yield from (written(target) for target in event.targets if target.kind == "index")
