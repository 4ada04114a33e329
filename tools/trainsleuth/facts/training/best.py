"""Where the best score so far decides what is saved: if acc > best: torch.save(...)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..naming.sites import Site
from ..records import Event, Expr
from ..tracing.things import Spot

if TYPE_CHECKING:
    from ..index import Index

_SAVES = ("save", "save_checkpoint", "save_model", "save_ckpt", "save_state", "save_pretrained", "save_weights")
_ALSO_SAVE = (
    "_save_model", "__save_model", "_save_checkpoint", "__save_checkpoint", "_save", "save_best", "save_best_model", "save_network", "save_networks",
    "save_models",
)  # fmt: skip
_KEEPS = ("deepcopy", "state_dict")
_BEST = re.compile(r"(^|_)best|best(_|$)|^max_|_max$", re.I)
_LEAST = re.compile(r"(^|_)(?:min|lowest|highest|least|greatest)(_|$)", re.I)
_IS_BEST = re.compile(r"^is_?best", re.I)


class Choice(NamedTuple):
    """The score that is compared with the best one, and where; `saving`, the call that it decides on."""

    spot: Spot
    score: Expr
    best: Expr
    saving: Expr

    @property
    def wants_more(self) -> bool | None:
        """True for acc > best and best < acc, False for loss < best; None where a `not` stands around it."""
        test = self.spot.function.events[self.spot.position].value
        for part in test.walk() if test is not None else ():
            if part.kind == "unary" and part.text == "not" and self.best in part.walk():
                return None
            if self.best in part.parts:
                return (part.text in (">", ">=")) is (part.parts[0] is self.score)
        return None


def choices(index: Index, wide: bool = False) -> Iterator[Choice]:
    """Each test once: around what saves, or what a saving call is told of it, is_best = acc > best. `wide`: also around what keeps
    the best weights under a name, what is saved by a function of one's own, and with the least so far (min_loss) that is set there.
    """
    said: set[Expr] = set()
    for site in index.calls(*_SAVES, *(*_ALSO_SAVE, *_KEEPS) * wide):
        if site.call.last in _KEEPS and not any(_BEST.search(target.last) for target in site.event.targets):
            continue
        for position, test in (*_tests_around(site), *_tests_told(site)):
            found = _with_best(test) or (_with_least(site, test) if wide else None)
            if found is not None and test not in said:
                said.add(test)
                yield Choice(Spot(site.function, position), *found, site.call)


def _tests_around(site: Site) -> Iterator[tuple[int, Expr]]:
    tests = (branch.test for branch in site.event.block.branches)
    yield from ((_header(site, test), test) for test in tests if test is not None)


def _tests_told(site: Site) -> Iterator[tuple[int, Expr]]:
    if any(part.kind == "path" and _IS_BEST.search(part.last) for part in site.call.walk()):
        for position, event in enumerate(site.function.events[: site.position]):
            if event.value is not None and _assigns_best(event):
                yield position, event.value


def _assigns_best(event: Event) -> bool:
    return event.kind == "assign" and any(_IS_BEST.search(target.last) for target in event.targets)


def _with_best(test: Expr) -> tuple[Expr, Expr] | None:
    """The score that is compared with the best one, and that."""
    for part in test.walk():
        if part.kind == "compare" and part.text in ("<", ">", "<=", ">=") and len(part.parts) == 2:
            one, other = part.parts
            for best, score in ((one, other), (other, one)):
                if best.kind in ("path", "attr", "index") and _is_best(best) and not _is_best(score):
                    return score, best
    return None


def _with_least(site: Site, test: Expr) -> tuple[Expr, Expr] | None:
    """if loss < min_loss: min_loss = loss; save(model)"""
    set_there = {
        target.text
        for event in site.function.events
        if event.kind == "assign" and any(branch.test is test for branch in event.block.branches)
        for target in event.targets
    }
    for part in test.walk():
        if part.kind == "compare" and part.text in ("<", ">", "<=", ">=") and len(part.parts) == 2:
            for best, score in (part.parts, part.parts[::-1]):
                if best.kind == "path" and _LEAST.search(best.last) and best.text in set_there:
                    return score, best
    return None


def _is_best(expr: Expr) -> bool:
    name = expr.parts[0] if expr.kind == "index" else expr
    return bool(_BEST.search(name.last)) or (
        expr.kind == "index" and any(p.kind == "string" and _BEST.search(p.text) for p in expr.parts[1:])
    )


def _header(site: Site, test: Expr) -> int:
    """Position of the if that has the test."""
    events = site.function.events
    return next((place for place in range(site.position, -1, -1) if events[place].value is test), site.position)
