"""Splits of data into parts for training and for evaluation, and names of the parts."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..naming.sites import Site
from ..records import Expr
from ..tracing.making import bound_names, derived, mentions

_HELD_OUT = re.compile(r"(^|_)(test|val|valid|holdout)(_|$)", re.IGNORECASE)
_TRAIN = re.compile(r"train|(^|_)tr(_|$)|fold|fit", re.IGNORECASE)
_TRAINING_PART = re.compile(r"(^|_)(train|training|tr)(_|$)", re.IGNORECASE)
_SPLITTING = ("train_test_split", "random_split")


def held_out(expr: Expr) -> bool:
    """By its name alone, a part that is not trained on."""
    return expr.kind == "path" and bool(_HELD_OUT.search(expr.last)) and not _TRAIN.search(expr.last)


def is_training_part(expr: Expr) -> bool:
    """By its name alone, what is left after a split: a further split of it takes nothing away from the test."""
    return expr.kind == "path" and bool(_TRAINING_PART.search(expr.last))


def counterpart(expr: Expr, names: Iterable[str]) -> bool:
    """X_train stands beside X_test: the same word but for the part."""
    stem = _HELD_OUT.sub("|", expr.last).lower()
    return any(_TRAINING_PART.sub("|", name.rpartition(".")[2]).lower() == stem for name in names)


def split_after(site: Site, names: Iterable[str]) -> Expr | None:
    """The first split, later in the same function, of something computed from `names`."""
    events = site.function.events
    here = events[site.position].block
    for position in range(site.position + 1, len(events)):
        event = events[position]
        for call in event.calls:
            if call.last in _SPLITTING and call.arguments:
                known = derived(site.function, names, site.position + 1, position)
                together = (
                    event.block.loops == here.loops and event.block.branches[: len(here.branches)] == here.branches
                )
                if together and mentions(call.arguments[0], known) and not _is_remade(site, names, position, call):
                    return call
    return None


def _is_remade(site: Site, names: Iterable[str], end: int, call: Expr) -> bool:
    """The name that is split was given something else, not computed from the fitted data, in between."""
    first = call.arguments[0]
    if first.kind != "path":
        return False
    for event in reversed(site.function.events[site.position + 1 : end]):
        if first.text in bound_names(event) and event.kind == "assign":
            if any(call.last == "transform" for call in event.calls):
                return False
            return not mentions(event.value, derived(site.function, names, site.position + 1, end))
    return False
