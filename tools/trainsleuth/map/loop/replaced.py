"""Methods of a framework that a program replaces with functions of its own: Trainer.create_optimizer = create_optimizer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from trainsleuth.facts import Class, Event, Expr, External, Function, Index

from ..calling.optional_imports import resolve
from .frameworks import Framework, owned_by

_PUTS = frozenset({"patch", "object", "setattr"})
_ASSIGNS = tuple(re.compile(name + rb"\.\w+\s*=[^=]") for name in (b"Trainer", b"Learner", b"Runner"))


def replaced_hooks(index: Index, framework: Framework, reached: Mapping[Function, int]) -> tuple[Function, ...]:
    """Project functions that take the place of hooks of the framework's own classes, where reached code puts them."""
    found: dict[Function, None] = {}
    for function in index.functions():
        if function in reached and _may_replace(function):
            for event in function.events:
                for holder, name, given in _replacements(index, function, event):
                    owner = owned_by(index, holder) if holder is not None else None
                    put = resolve(index, function, given.text) if given.kind == "path" else None
                    if owner == framework and name in framework.hooks and isinstance(put, Function):
                        found[put] = None
    return tuple(sorted(found, key=lambda one: framework.hooks.index(one.name) if one.name in framework.hooks else 99))


def _may_replace(function: Function) -> bool:
    return not function.called.isdisjoint(_PUTS) or any(map(function.source.holds, _ASSIGNS))


def _replacements(
    index: Index, function: Function, event: Event
) -> Iterator[tuple[Class | External | None, str, Expr]]:
    """(class, name of its method, what is put there) of one statement."""
    if event.kind == "assign" and event.value is not None:
        for target in event.targets:
            if target.kind == "path" and target.receiver is not None:
                yield _class(index, function, target.receiver), target.last, event.value
    for call in event.calls:
        given = call.arguments
        if call.last == "setattr" and len(given) == 3 and given[1].kind == "string":
            yield _class(index, function, given[0]), given[1].text, given[2]
        elif call.last == "object" and len(given) > 1 and given[1].kind == "string":
            put = call.argument(2, "new")
            yield from [(_class(index, function, given[0]), given[1].text, put)] if put is not None else []
        elif call.last == "patch" and given and given[0].kind == "string":
            name, _, method = given[0].text.rpartition(".")
            put = call.argument(1, "new")
            yield from [(External(name), method, put)] if put is not None else []


def _class(index: Index, function: Function, expr: Expr) -> Class | External | None:
    held = resolve(index, function, expr.text) if expr.kind == "path" else None
    return held if isinstance(held, Class | External) else None
