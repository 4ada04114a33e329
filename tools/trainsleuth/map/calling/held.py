"""Classes that an expression may hold: how many are kept, and what is known of one."""

from __future__ import annotations

from collections.abc import Container, Iterable

from trainsleuth.facts import Class, External, Function, Index
from trainsleuth.facts.reading.scopes import bindings

Held = Class | External
MAX_HELD = 12
MAX_DEPTH = 9  # an object that a factory of a factory returned, from a table


def is_untyped(function: Function, name: str) -> bool:
    """A parameter without a type: its callers are those of all functions of that name."""
    parameter = function.parameter(name)
    return parameter is not None and not parameter.annotation and name not in bindings(function)


def is_of_class(method: Function) -> bool:
    """A class calls it itself: Trainer.build(config)."""
    return any(one.last in ("classmethod", "staticmethod") for one in method.decorators)


def is_property(method: Function) -> bool:
    """Read like a field: what it gives back is what the name holds."""
    return any(one.last in ("property", "cached_property") for one in method.decorators)


def only_below(index: Index, chosen: Iterable[Class]) -> dict[Class, Class]:
    """For each base of one of `chosen` that one, where none but it and its own bases derive from it."""
    below: dict[Class, list[Class]] = {}
    for cls in sorted(chosen, key=lambda one: (one.path, one.line)):
        for base in index.lineage(cls)[1:]:
            below.setdefault(base, []).append(cls)
    last = {base: [one for one in found if one not in below] for base, found in below.items()}
    return {base: found[0] for base, found in last.items() if len(found) == 1}


def without_cousins(index: Index, found: tuple[Held, ...], chosen: Container[Class]) -> tuple[Held, ...]:
    """Of what a name may hold, where one of the classes is chosen by a setting: without those that share a base of the
    project with it, are not chosen themselves, and are made by no call.
    """
    picked = [one for one in found if isinstance(one, Class) and one in chosen]
    if len(picked) != 1:
        return found
    above = set(index.lineage(picked[0]))

    def is_cousin(one: Held) -> bool:
        is_kin = isinstance(one, Class) and one not in above and not above.isdisjoint(index.lineage(one))
        return is_kin and not any(True for _ in index.calls(one.name))

    return tuple(one for one in found if not is_cousin(one))


def is_made_by_name(held: Held) -> bool:
    """What a factory of another library gives: its class stands in the configuration."""
    return isinstance(held, External) and held.name.rpartition(".")[2] in ("instantiate", "locate", "build_from_cfg")


def unique(found: Iterable[Held]) -> tuple[Held, ...]:
    kept: dict[Held, None] = {}
    for one in found:
        kept[one] = None
        if len(kept) >= MAX_HELD:
            break
    return tuple(kept)
