"""Parts of one dataset: what random_split() and Subset give, which read the examples of the whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..naming.names import External
from ..naming.sites import Site, is_test
from ..reading.scopes import Item, bindings, reaching
from ..records import Expr, Function
from ..tracing.things import Spot

if TYPE_CHECKING:
    from ..index import Index

SPLITTING = ("random_split", "Subset")


class Part(NamedTuple):
    """A name, and the call of torch at `spot` that cuts the part out of `whole`."""

    name: str
    call: Expr
    whole: Expr
    spot: Spot

    @property
    def line(self) -> int:
        return self.call.line


def splits(index: Index) -> Iterator[Site]:
    """Every call outside tests that surely cuts a dataset with torch."""
    for site in index.calls(*SPLITTING):
        if not is_test(site.function.path) and is_split(index, site.function, site.call):
            yield site


def is_split(index: Index, function: Function, call: Expr) -> bool:
    symbol = index.resolve(function, call.callee) if call.last in SPLITTING and call.callee else None
    return isinstance(symbol, External) and symbol.name.startswith("torch.")


def parts_in(index: Index, function: Function) -> Iterator[Part]:
    """Every name that the function gives a part, once for each way; of several targets each is one."""
    for name, found in bindings(function).items():
        for binding in found:
            value, spot = binding.value, Spot(function, binding.position)
            if binding.kind == "assign" and value is not None and value.kind == "call":
                if value.last not in SPLITTING:
                    whole = _cut_elsewhere(index, value, spot, binding.items) if binding.items else None
                elif len(binding.items) == (value.last == "random_split") and is_split(index, function, value):
                    whole = value.argument(0, "dataset")
                else:
                    continue
                if whole is not None:
                    yield Part(name, value, whole, spot)


def _cut_elsewhere(index: Index, call: Expr, spot: Spot, items: tuple[Item, ...]) -> Expr | None:
    """What a function of the project cuts that is given it and does no more: train, val = halve(dataset)."""
    if not index.may_run(call, spot.function):
        return None
    targets = list(index.calling.run_by(call, spot))
    inner = targets[0].function if len(targets) == 1 else None
    if inner is None or inner.called.isdisjoint(SPLITTING) or inner.source.holds(_COPIES):
        return None
    given = [position for position, event in enumerate(inner.events) if event.kind == "return"]
    value = inner.events[given[0]].value if len(given) == 1 else None
    if value is None or not isinstance(items[0], int):
        return None
    whole = None
    if value.kind == "call" and value.last == "random_split" and is_split(index, inner, value):
        whole = value.argument(0, "dataset")
    elif value.kind == "tuple" and items[0] < len(value.parts):
        part = part_at(list(parts_in(index, inner)), value.parts[items[0]].text, given[0])
        whole = part.whole if part is not None else None
    if whole is None or inner.parameter(whole.text) is None or whole.text in bindings(inner):
        return None
    return index.flow.given(inner, call, whole.text, targets[0].owner is not None)


_COPIES = re.compile(rb"copy|\.dataset\b")


def part_at(parts: list[Part], name: str, position: int) -> Part | None:
    """What surely has the name just before an event of the function that the parts are in."""
    for part in parts:
        if part.name == name:
            found, certain = reaching(part.spot.function, name, position)
            if certain and len(found) == 1 and found[0].position == part.spot.position:
                return part
    return None


def origin_of(parts: list[Part], part: Part) -> Part:
    """The outermost of the parts that it is a part of."""
    outer = part_at(parts, part.whole.text, part.spot.position) if part.whole.kind == "path" else None
    return origin_of(parts, outer) if outer is not None else part


def share(parts: list[Part], one: Part, other: Part) -> bool:
    """Both are surely cut out of the same object."""
    one, other = origin_of(parts, one), origin_of(parts, other)
    if one.call is other.call:
        return True
    if one.whole.kind != "path" or one.whole.text != other.whole.text:
        return False
    made = [reaching(part.spot.function, part.whole.text, part.spot.position) for part in (one, other)]
    return [b.position for b in made[0][0]] == [b.position for b in made[1][0]]
