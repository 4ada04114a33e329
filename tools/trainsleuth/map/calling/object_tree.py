"""Objects in objects, as code writes them down: X(a=Y(b=1)).with_part("z", Z(c=2))."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainsleuth.facts import Class, Event, Expr, Function
from trainsleuth.facts.reading.scopes import bindings

from .values import Values

MAX_HOPS = 3  # functions that a recipe calls to make its parts
MAX_DEPTH = 12  # of objects in objects


class Constructed(NamedTuple):
    """A constructor call in `scope`, with the dotted key under which its fields stand."""

    key: str
    scope: Function
    expr: Expr
    cls: Class

    @property
    def given(self) -> Iterator[Expr]:
        """Its keywords."""
        return (part for part in self.expr.parts[1:] if part.kind == "keyword")


def returns(function: Function) -> Iterator[Event]:
    yield from (event for event in function.events if event.kind == "return" and event.value is not None)


def objects(
    values: Values, scope: Function, expr: Expr, key: str = "", depth: int = 0, hops: int = MAX_HOPS
) -> Iterator[Constructed]:
    """Every object in `expr`, each before those in its fields.

    What a method is given that is called on one stands in that object, under the name that it is given with it.
    """
    if depth > MAX_DEPTH:
        return
    if expr.kind == "path" and expr.text.isidentifier():
        bound = [one.value for one in bindings(scope).get(expr.text, ()) if one.value is not None and not one.items]
        for value in [one for one in bound if not is_made_of(one, expr.text)][-1:]:
            if value.kind != "path":
                yield from objects(values, scope, value, key, depth + 1, hops)
    receiver = expr.receiver if expr.kind == "call" else None
    if receiver is not None and receiver.kind == "call":
        yield from objects(values, scope, receiver, key, depth, hops)
        named = next((part.text for part in expr.arguments if part.kind == "string"), "")
        yield from _inside(values, scope, expr.parts[1:], joined(key, named), depth, hops)
        return
    for one in values.callables(scope, expr.parts[0]) if expr.kind == "call" else ():
        if isinstance(one, Class):
            yield Constructed(key, scope, expr, one)
        elif isinstance(one, Function) and hops and not (one.owner and expr.parts[1:]):  # no Duration.steps(50)
            for event in returns(one):
                if event.value is not None:
                    yield from objects(values, one, event.value, key, depth + 1, hops - 1)
    yield from _inside(values, scope, expr.parts, key, depth, hops)


def _inside(
    values: Values, scope: Function, parts: Sequence[Expr], key: str, depth: int, hops: int
) -> Iterator[Constructed]:
    for part in parts:
        inside = part.parts[-1] if part.kind in ("keyword", "pair") and part.parts else part
        name = part.text if part.kind == "keyword" else part.parts[0].text if part.kind == "pair" else ""
        if inside.kind in ("call", "dict", "list", "tuple", "path"):
            yield from objects(values, scope, inside, joined(key, name), depth + 1, hops)


def joined(key: str, name: str) -> str:
    return f"{key}.{name}".strip(".")


def is_made_of(value: Expr, name: str) -> bool:
    """config = config.merge(overrides)"""
    return any(part.kind == "path" and part.text.partition(".")[0] == name for part in value.walk())
