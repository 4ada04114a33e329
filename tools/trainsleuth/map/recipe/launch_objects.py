"""Recipes that are objects in the file that is started: config = TrainerConfig(...).with_callback("saver", Saver(...))."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainsleuth.facts import Expr, Function

from ..calling.object_tree import Constructed, objects
from ..calling.values import Values
from ..configuration.forms.fields import of_class
from ..configuration.forms.options import options
from ..program import Program
from .config_objects import is_config
from .presets import Preset, read_objects

LEAST = 4  # values that the objects are given before they count as a recipe


_KIND = re.compile(r"_?(?:[Cc]onfig(?:uration)?|[Cc]fg|[Aa]rg(?:ument)?s|[Pp]arams)$")


class _Object(NamedTuple):
    name: str  # that it is bound to
    parts: list[Constructed]


def launch_preset(program: Program) -> Preset:
    """The configuration that the functions of the entry's file construct, as one; an empty one when there is none."""
    values, entry = program.values, program.entry
    found = [one for scope in entry.reach.distance if scope.path == entry.path for one in _objects(values, scope)]
    inner = {part.expr for one in found for part in one.parts[1:]}
    longest = {one.parts[0].expr: one for one in sorted(found, key=lambda one: len(one.parts))}
    tops = [one for expr, one in longest.items() if expr not in inner]
    if not tops or sum(len(list(part.given)) for one in tops for part in one.parts) < LEAST:
        return Preset()
    largest = max(tops, key=lambda one: len(one.parts))
    top = largest.parts[0].cls
    fields = {field.name for cls in values.index.lineage(top) for field in of_class(cls)}
    alike = fields & {one.name for one in options(program)}  # the field is not the option, which may be worth less
    twins = sum(one.parts[0].cls is top for one in tops) > 1  # neither is the whole, whatever code calls it
    names = _numbered([top.name if twins and _KIND.fullmatch(one.name) else one.name for one in tops])
    every = [
        part
        for one, name in zip(tops, names, strict=True)
        for part in _under(name if alike or twins or one is not largest else "", one.parts)
    ]
    return read_objects(values, every, top)


def _numbered(names: Sequence[str]) -> Iterator[str]:
    """Several under one name stand below it like the entries of a list."""
    count, seen = Counter(names), Counter[str]()
    for name in names:
        yield name if count[name] == 1 else f"{name}.{seen[name]}"
        seen[name] += 1


def _objects(values: Values, scope: Function) -> Iterator[_Object]:
    """Configuration objects that a statement binds, gives back or hands on."""
    for event in scope.events:
        for expr in (event.value, *event.calls) if event.kind != "if" else ():
            if expr is not None and expr.kind == "call":
                first = _first(expr)
                if first.callee and first.last[:1].isupper() and (parts := list(objects(values, scope, expr))):
                    if parts[0].expr is first and is_config(parts[0].cls):
                        name = next((one.last for one in event.targets), "") or parts[0].cls.name
                        yield _Object(_KIND.sub("", name).lower() or name, parts)


def _first(call: Expr) -> Expr:
    """What a chain of calls begins with: X() of X().a().b()."""
    while (receiver := call.receiver) is not None and receiver.kind == "call":
        call = receiver
    return call


def _under(name: str, parts: list[Constructed]) -> Iterator[Constructed]:
    yield from (part._replace(key=f"{name}.{part.key}".strip(".")) for part in parts)
