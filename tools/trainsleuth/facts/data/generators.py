"""Random generators that a data set makes once and keeps: where they are made, and where an example draws from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from trainsleuth.finding import Link

from ..memo import kept_per_index
from ..naming.names import External
from ..records import Class, Expr, Function
from ..tracing.making import makers
from ..tracing.things import Spot
from ..wording import written

if TYPE_CHECKING:
    from ..index import Index

_GENERATORS = ("RandomState", "default_rng", "Generator", "Random")


class Kept(NamedTuple):
    """Where a generator is made, in the constructor, and where it is drawn from."""

    made: Link
    use: Link


def may_generate(index: Index) -> bool:
    """Wide, and cheap: something in the project makes a generator."""
    return any(index.sites.may_call(name) for name in _GENERATORS) or _imports_imgaug(index)


@kept_per_index
def kept_generators(index: Index, cls: Class) -> tuple[Kept, ...]:
    return tuple(_kept_in(index, cls))


def _kept_in(index: Index, cls: Class) -> Iterator[Kept]:
    """What is drawn from is asked first: how a name was made may lead through every call of many constructors."""
    getter = index.method(cls, "__getitem__")
    for one in index.lineage(cls) if getter is not None and may_generate(index) else ():
        for name in index.hierarchy.attribute_names(one) if "__init__" in one.methods else ():
            use = _drawn(index, cls, getter, name) if getter is not None else None
            if use is not None:
                yield from (Kept(made, use) for made in _made(index, one, name))


def _made(index: Index, cls: Class, name: str) -> Iterator[Link]:
    for method, binding in index.hierarchy.attribute_bindings(cls, name):
        if method.name != "__init__" or binding.value is None:
            continue
        for call, at in makers(index, binding.value, Spot(method, binding.position)):
            base = call.receiver if call.kind == "call" and call.last == "manual_seed" else call
            if base is not None and base.kind == "call" and (_is_known(base) or _is_augmenter(index, base, at)):
                yield Link(at.function.path, call.line, f"self.{name} is {written(call)}")


def _is_known(call: Expr) -> bool:
    from_library = call.callee.split(".")[0] in ("np", "numpy", "torch", "random")
    return call.last in _GENERATORS and (from_library or call.callee in _GENERATORS)


def _imports_imgaug(index: Index) -> bool:
    return any(one.module.partition(".")[0] == "imgaug" for file in index.files.values() for one in file.imports)


def _is_augmenter(index: Index, call: Expr, spot: Spot) -> bool:
    """One of imgaug, which draws from a generator that it takes when it is made; torch seeds none of these."""
    thing = index.resolve(spot.function, call.callee) if call.callee and not call.keyword("seed") else None
    return isinstance(thing, External) and thing.name.startswith("imgaug.augmenters.")


def _drawn(index: Index, cls: Class, getter: Function, name: str) -> Link | None:
    """Where __getitem__, or a method that it calls, draws from the generator; None when it is made anew there."""
    waiting, seen = [getter], {getter}
    while waiting:
        method = waiting.pop()
        own = f"{method.self_name}.{name}"
        for event in method.events:
            if any(target.text == own for target in event.targets):
                return None
            for call in event.calls:
                if _draws(call, own):
                    return Link(method.path, call.line, f"{written(call)} draws from it in {method.name}")
                is_own = call.receiver is not None and call.receiver.text == method.self_name
                inner = index.method(cls, call.last) if is_own else None
                if inner is not None and inner not in seen:
                    seen.add(inner)
                    waiting.append(inner)
    return None


def _draws(call: Expr, own: str) -> bool:
    """rng.normal(), or a call that is given rng"""
    given = (part.parts[0] if part.kind == "keyword" else part for part in call.parts[1:])
    return call.callee == own or call.callee.startswith(f"{own}.") or any(part.text == own for part in given)
