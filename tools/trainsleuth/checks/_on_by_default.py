"""Data sets that alter their examples by chance unless they are told not to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainsleuth.facts import Class, Expr, Function, Index, Site, Spot, is_test
from trainsleuth.facts.data.loaders import is_spread

_TELLING = re.compile(r"(do_|use_|is_|with_)?(data_?)?(aug|augment|augmentation|augmented|train|training)")
_ALTERS = re.compile(r"rand|augment|jitter|perturb|noise", re.I)


class Left(NamedTuple):
    """The call at `site` leaves `name` at True, which the call at `other` does not; `draw` is what it decides on."""

    site: Site
    name: str
    draw: Expr
    drawn_in: Function
    other: Site


def left_on(index: Index) -> Iterator[Left]:
    for cls in index.classes():
        init = cls.methods.get("__init__")
        for parameter in init.parameters if init is not None else ():
            if (
                parameter.default is not None
                and parameter.default.text == "True"
                and _TELLING.fullmatch(parameter.name)
            ):
                if index.method(cls, "__getitem__") is not None and not is_test(cls.path):
                    yield from _calls_leaving(index, cls, parameter.name)


def _calls_leaving(index: Index, cls: Class, name: str) -> Iterator[Left]:
    decided = next(_decided(index, cls, name), None)
    init = cls.methods["__init__"]
    sites = [] if decided is None else [one for one in _made(index, cls) if not is_spread(one.call)]
    told = [one for one in sites if (given := index.flow.given(init, one.call, name, True)) and given.text == "False"]
    for site in sites if told else ():
        if decided is not None and index.flow.given(init, site.call, name, True) is None:
            yield Left(site, name, *decided, told[0])


def _made(index: Index, cls: Class) -> Iterator[Site]:
    for site in index.calls(cls.name):
        if not is_test(site.function.path):
            if cls in index.objects.of(site.call.parts[0], Spot(site.function, site.position)):
                yield site


def _decided(index: Index, cls: Class, name: str) -> Iterator[tuple[Expr, Function]]:
    """Calls that alter an example by chance, under `if self.augment:`."""
    for method in (method for one in index.lineage(cls) for method in one.methods.values()):
        switch = f"{method.self_name}.{name}"
        for event in method.events:
            tests = [branch.test for branch in event.block.branches if branch.test is not None]
            if any(part.text == switch for test in tests for part in (test, *_both(test))):
                yield from ((call, method) for call in event.calls if _ALTERS.search(call.callee))


def _both(test: Expr) -> tuple[Expr, ...]:
    return test.parts if test.kind == "boolean" and test.text.startswith("and") else ()
