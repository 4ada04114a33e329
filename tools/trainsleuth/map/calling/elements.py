"""What a list or a dict holds: self.jobs.append(Job(cfg)), then `for job in self.jobs` and self.jobs[0]."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainsleuth.facts import Class, Expr, Function
from trainsleuth.facts.reading.scopes import Binding, bindings

if TYPE_CHECKING:
    from .values import Values

MAX_DEPTH = 6  # of functions that give back what others put together
Given = tuple[Function, Expr]  # an expression, and where it stands
_COLLECTIONS = ("list", "tuple", "set", "dict")
_SAME = ("sorted", "reversed", "list", "tuple", "tqdm", "choice", "choices", "sample")  # some elements of what they get


def looped_over(values: Values, function: Function, binding: Binding, depth: int) -> Iterator[Given]:
    """Elements that the variable of a for takes in turn."""
    source, items = binding.value, binding.items
    if source is not None and source.kind == "call" and source.last == "enumerate":
        source, items = next(iter(source.arguments), None), items[1:] if items[:1] == (1,) else (0,)
    elif source is not None and source.kind == "call" and source.last in ("values", "items"):
        items = items[1:] if source.last == "items" and items[:1] == (1,) else items
        source = source.receiver
    if source is not None and not items:
        yield from elements_of(values, function, source, depth)


def elements_of(
    values: Values, function: Function, source: Expr, depth: int, key: str | None = None
) -> Iterator[Given]:
    """What is put into a collection where it is written, by append and the like, or under a key; where one is asked
    for, nothing that is written under another.
    """
    if depth > MAX_DEPTH:
        return
    while source.kind == "call" and source.last in _SAME and source.arguments:
        source = source.arguments[0]
    if source.kind == "call":
        called = values.callables(function, source.parts[0], depth + 1)
        for giver in (one for one in called if isinstance(one, Function)):
            for event in giver.events:
                if event.kind == "return" and event.value is not None:
                    yield from elements_of(values, giver, event.value, depth + 2, key)
    if source.kind in _COLLECTIONS:
        asked = [part for part in source.parts if part.kind != "pair" or _is_under(part, key)]
        yield from ((function, part.parts[-1] if part.kind == "pair" else part) for part in asked)
    if source.kind == "each":  # [Agent(i) for i in range(3)]
        made = source.parts[0]
        yield function, made.parts[-1] if made.kind == "pair" else made
    if source.kind == "path":
        for scope, binding in _bound(values, function, source, depth):
            if binding.value is None or binding.items:
                continue
            if binding.kind == "append":
                if not _takes_from(binding.value, source.text):
                    yield scope, binding.value
            elif binding.kind in ("assign", "extend") and binding.value.kind in (*_COLLECTIONS, "each", "call"):
                yield from elements_of(values, scope, binding.value, depth + 1, key)


def _takes_from(value: Expr, path: str) -> bool:
    """What is put in was in it before: batch["x"] = batch["x"].cuda(), six of which would ask 6 ** 6 times."""
    return any(part.kind == "index" and part.parts[0].text == path for part in value.walk())


def _is_under(pair: Expr, key: str | None) -> bool:
    return key is None or pair.parts[0].kind != "string" or pair.parts[0].text == key


def _bound(values: Values, function: Function, source: Expr, depth: int) -> Iterator[tuple[Function, Binding]]:
    yield from ((function, one) for one in bindings(function).get(source.text, ()))
    if source.receiver is not None:
        for held in values.of(function, source.receiver, depth + 1):
            for cls in values.index.lineage(held) if isinstance(held, Class) else ():
                found = values.index.hierarchy.attribute_bindings(cls, source.last)
                yield from (one for one in found if one[0] is not function)
