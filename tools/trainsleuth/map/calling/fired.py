"""What python-fire makes commands of: the methods of an object or of a class, the functions of a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from trainsleuth.facts import Class, Expr, External, Function

from ..naming.only_values import held_nearby
from .held import is_property

if TYPE_CHECKING:
    from .values import Values

FIRE: Final = "Fire"
_FULL = ("fire.Fire", "fire.core.Fire")


def fired(values: Values, function: Function, call: Expr) -> Iterator[tuple[str, Function]]:
    """(command, what it runs) of fire.Fire(component=trainer), fire.Fire({"train": train}); a function alone is no command."""
    component = call.argument(0, "component") if call.last == FIRE and call.kind == "call" else None
    if component is None or not _is_of_fire(values, function, call):
        return
    table = _table(values, function, component)
    for pair in table.parts if table is not None else ():
        if pair.kind == "pair" and pair.parts[0].kind == "string":
            for one in values.callables(function, pair.parts[1]):
                if isinstance(one, Function):
                    yield pair.parts[0].text, one
    for cls in () if table is not None else _classes(values, function, component):
        methods = {name: one for base in reversed(values.index.lineage(cls)) for name, one in base.methods.items()}
        yield from ((name, one) for name, one in methods.items() if name[0] != "_" and not is_property(one))


def _is_of_fire(values: Values, function: Function, call: Expr) -> bool:
    symbol = values.index.resolve(function, call.callee)
    return isinstance(symbol, External) and symbol.name in _FULL


def _table(values: Values, function: Function, component: Expr) -> Expr | None:
    if component.kind == "dict":
        return component
    held = held_nearby(values.index, function, component)
    return held[1] if held is not None and held[1].kind == "dict" else None


def _classes(values: Values, function: Function, component: Expr) -> tuple[Class, ...]:
    named = values.index.resolve(function, component.text) if component.kind == "path" else None
    held = (named,) if isinstance(named, Class) else values.of(function, component)
    return tuple(one for one in held if isinstance(one, Class))
