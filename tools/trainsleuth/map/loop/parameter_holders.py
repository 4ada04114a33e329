"""Classes that are networks without a base that says so: they keep several parameters of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from weakref import WeakKeyDictionary

from trainsleuth.facts import Class, Function, Index
from trainsleuth.facts.reading.scopes import bindings

ENOUGH = 2  # attributes: one alone may be a temperature beside the networks
MAX_HOPS = 4  # of calls of own methods
_HOLDERS: WeakKeyDictionary[Index, Mapping[Class, frozenset[str]]] = WeakKeyDictionary()


def holds_parameters(index: Index, cls: Class) -> bool:
    """self.xyz = nn.Parameter(...), self.opacity = nn.Parameter(...): in its own methods or in those above it."""
    return bool(_attributes(index, cls))


def makers(index: Index, cls: Class) -> Iterator[Function]:
    """Its methods that bind several of its parameters."""
    names = _attributes(index, cls)
    for method in cls.methods.values():
        if len(_bound(method) & names) >= ENOUGH:
            yield method


def changes_parameters(index: Index, method: Function, hops: int = 0) -> bool:
    """The method of such a class binds its parameters anew, or calls one of its own that does: prune(), densify()."""
    owner = index.class_of(method)
    if owner is None or method.name == "__init__" or hops > MAX_HOPS or not (names := _attributes(index, owner)):
        return False
    called = (
        index.method(owner, call.last)
        for event in method.events
        for call in event.calls
        if call.receiver is not None and call.receiver.text == method.self_name
    )
    return bool(_bound(method) & names) or any(
        one is not None and one is not method and changes_parameters(index, one, hops + 1) for one in called
    )


def _bound(method: Function) -> set[str]:
    """Names of the attributes of its object that a method binds."""
    own = f"{method.self_name}."
    return {name.removeprefix(own) for name in bindings(method) if name.startswith(own)} if method.self_name else set()


def _attributes(index: Index, cls: Class) -> frozenset[str]:
    if index not in _HOLDERS:
        _HOLDERS[index] = _read(index)
    return frozenset().union(*(_HOLDERS[index].get(one, frozenset()) for one in index.lineage(cls)))


def _read(index: Index) -> Mapping[Class, frozenset[str]]:
    kept: dict[Class, set[str]] = {}
    for site in index.calls("Parameter"):
        owner = index.class_of(site.function) if site.function.self_name else None
        symbol = index.resolve(site.function, site.call.callee) if owner is not None else None
        for target in site.event.targets if getattr(symbol, "name", "") == "torch.nn.Parameter" else ():
            if owner is not None and target.text.startswith(f"{site.function.self_name}."):
                kept.setdefault(owner, set()).add(target.text.removeprefix(f"{site.function.self_name}."))
    return {cls: frozenset(names) for cls, names in kept.items() if len(names) >= ENOUGH}
