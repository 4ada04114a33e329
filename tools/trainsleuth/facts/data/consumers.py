"""Who goes over the loaders that a sampler is made for."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from ..naming.sites import Site
from ..records import Expr, Function
from ..tracing.making import mentions

if TYPE_CHECKING:
    from ..index import Index

_LOOKING = ("len", "print")


def loader_names(site: Site) -> list[str]:
    """What the loaders are called that the function makes with the sampler of this call."""
    names, loaders = {target.text for target in site.event.targets}, []
    if "Loader" in (site.event.value.last if site.event.value is not None else ""):
        loaders += sorted(names)
    for event in site.function.events[site.position + 1 :]:
        for call in event.calls:
            if names & {part.text for part in call.walk() if part.kind == "path"}:
                if "Sampler" in call.last:
                    names |= {target.text for target in event.targets}
                elif "Loader" in call.last:
                    loaders += [target.text for target in event.targets]
    return loaders


def is_only_read(index: Index, site: Site) -> bool:
    """All that is seen to go over its loaders, in this function or class, are loops that train nothing: features."""
    loaders, cls = loader_names(site), index.class_of(site.function)
    kept = all(name.startswith(f"{site.function.self_name}.") for name in loaders) and cls is not None
    functions = tuple(cls.methods.values()) if cls is not None and kept else (site.function,)
    uses = [use for function in functions for use in _uses(index, function, loaders)]
    return bool(loaders) and bool(uses) and not any(uses)


def _uses(index: Index, function: Function, loaders: Collection[str]) -> Iterator[bool]:
    """For each use of the loaders, whether it may train."""
    backwards = [e.position for e in index.effects.of(function) if e.kind == "backward"]
    for position, event in enumerate(function.events):
        if event.kind == "for" and mentions(event.value, loaders):
            yield any(int(event.text) in function.events[one].block.loops for one in backwards)
        elif event.value is not None and any(_goes_over(part, loaders) for part in event.value.walk()):
            yield position in backwards
        elif any(mentions(part, loaders) for call in event.calls for part in call.parts[1:]):
            yield any(_is_handed(part, loaders) for call in event.calls if not _looks(call) for part in call.parts[1:])
        elif event.kind == "return" and mentions(event.value, loaders):
            yield True


def _goes_over(part: Expr, loaders: Collection[str]) -> bool:
    return part.kind == "for" and mentions(part.parts[1], loaders)


def _looks(expr: Expr) -> bool:
    return expr.kind == "call" and expr.last in _LOOKING


def _is_handed(given: Expr, loaders: Collection[str]) -> bool:
    """A loader itself, not only its length: tqdm(total=len(loader))."""
    if not given.parts:
        return mentions(given, loaders)
    return not _looks(given) and any(_is_handed(part, loaders) for part in given.parts)
