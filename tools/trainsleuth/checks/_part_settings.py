"""Transforms and switches that are set through the parts of a dataset, and what the dataset had before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainsleuth.facts import Class, Expr, Function, Index, Instance, Spot, derived, mentions
from trainsleuth.facts.data.subsets import Part, origin_of, part_at

_ATTRIBUTE = re.compile(r"(\w+_)?transforms?|augment(ations?)?|aug|(is_)?train(ing)?|tfms?", re.IGNORECASE)
_PLACES = {"ImageFolder": 1, "DatasetFolder": 3, "MNIST": 2, "FashionMNIST": 2, "CIFAR10": 2, "CIFAR100": 2}
_LOOKING = ("len", "print", "type", "isinstance", "getattr", "hasattr", "DataLoader")


class Setting(NamedTuple):
    """part.dataset.attribute = value; `unread`: on a part itself, which has no use for it."""

    part: Part
    attribute: str
    value: Expr
    spot: Spot
    unread: bool

    @property
    def line(self) -> int:
        return self.spot.line


class Had(NamedTuple):
    """What the dataset had by the call that made it."""

    value: Expr
    spot: Spot
    made: Expr


def settings(function: Function, parts: list[Part]) -> Iterator[Setting]:
    for position, event in enumerate(function.events):
        for target in event.targets if event.kind == "assign" and event.value is not None else ():
            holder, _, attribute = target.text.rpartition(".")
            if target.kind == "path" and _ATTRIBUTE.fullmatch(attribute) and event.value is not None:
                for part, unread in _meant(parts, holder, position):
                    yield Setting(part, attribute, event.value, Spot(function, position), unread)


def _meant(parts: list[Part], holder: str, position: int) -> Iterator[tuple[Part, bool]]:
    """val.dataset is what val is cut out of, which may be a part too."""
    part, levels = part_at(parts, holder, position), 0
    while part is None and holder.endswith(".dataset"):
        holder, levels = holder.removesuffix(".dataset"), levels + 1
        part = part_at(parts, holder, position)
    while part is not None and levels:
        outer, levels = part_at(parts, part.whole.text, part.spot.position), levels - 1
        if outer is None and not levels:
            yield part, False
        part = outer
    if part is not None:
        yield part, True


def has_own(part: Part, position: int) -> bool:
    """val.dataset = copy.deepcopy(dataset) stands before."""
    events = part.spot.function.events[part.spot.position : position]
    return any(target.text == f"{part.name}.dataset" for event in events for target in event.targets)


def had(index: Index, parts: list[Part], one: Setting) -> list[Had]:
    """With each way in which the whole may be made; none where one of them is not resolved."""
    part = origin_of(parts, one.part)
    found: list[Had] = []
    for thing in index.objects.of(part.whole, part.spot):
        made = _made_with(index, thing, one) if isinstance(thing, Instance) else None
        if made is None:
            return []
        found.append(made)
    return found


def _made_with(index: Index, dataset: Instance, one: Setting) -> Had | None:
    call, spot = dataset.call, dataset.spot
    if call is None or spot is None:
        return None
    if isinstance(dataset.kind, Class):
        origins = [o for o in index.flow.attributes(dataset, one.attribute, one.spot) if o.expr is not None]
        value = origins[0].expr if len(origins) == 1 else None
        return Had(value, origins[0].spot, call) if value is not None else None
    if not dataset.name.startswith("torchvision.datasets") or one.attribute != "transform":
        return None
    given = call.argument(_PLACES.get(call.last, len(call.parts)), "transform")
    return Had(given if given is not None else Expr("constant", "None", (), call.line), spot, call)


def is_set_elsewhere(index: Index, one: Setting) -> bool:
    """Another method of the class sets it too, so which value holds is a matter of time."""
    cls = index.class_of(one.part.spot.function)
    methods = cls.methods.values() if cls is not None and "." in one.part.name else ()
    return any(
        target.text.endswith(f".dataset.{one.attribute}")
        for method in methods
        if method is not one.part.spot.function
        for event in method.events
        for target in event.targets
    )


def is_set_late(index: Index, one: Setting) -> bool:
    """In a loop that does not cut the parts anew, or after something was trained."""
    function, start, end = one.spot.function, one.part.spot.position, one.spot.position
    trained = any(e.kind == "backward" and start < e.position < end for e in index.effects.of(function))
    return trained or function.events[end].block.loops != function.events[start].block.loops


def is_gone_over(one: Setting, names: set[str], start: int) -> bool:
    """Before it is set, examples of the parts of these names were read: what they had then is not lost."""
    function, end = one.part.spot.function, one.spot.position
    known = derived(function, names, start, end)
    for event in function.events[start + 1 : end]:
        if event.kind == "for" and mentions(event.value, known):
            return True
        for part in event.value.walk() if event.value is not None else ():
            if part.kind == "for" and mentions(part.parts[1], known):
                return True
            if part.kind == "call" and part.last in ("iter", "list", "fit") and mentions(part, known):
                return True
    return False


def is_used(part: Part) -> bool:
    """Something else than its length is asked for; what an object keeps may be."""
    events = part.spot.function.events[part.spot.position + 1 :]
    return "." in part.name or any(_is_given(event.value, part.name) for event in events)


def _is_given(value: Expr | None, name: str) -> bool:
    """The name itself stands there, and not only to be counted or printed."""
    if value is None or (value.kind == "call" and value.last in ("len", "print")):
        return False
    return (value.kind == "path" and value.text == name) or any(_is_given(part, name) for part in value.parts)


def is_handed(one: Setting) -> bool:
    """What may read the attribute of a part gets it: more than a loader, or this attribute of it is read right here."""
    name, read = one.part.name, f"{one.part.name}.{one.attribute}"
    for event in one.part.spot.function.events[one.spot.position + 1 :]:
        if event.value is not None and any(part.text == read for part in event.value.walk()):
            return True
        for call in event.calls:
            if call.last not in _LOOKING and any(_is_given(part, name) for part in call.parts[1:]):
                return True
    return "." in name
