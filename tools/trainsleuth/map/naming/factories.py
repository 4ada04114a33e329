"""Registries that are filled by calls: self.algo_factory.register_builder("sac", lambda **kwargs: SACAgent(**kwargs))."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainsleuth.facts import Class, Event, Expr, Function, Index

from .tables import Entry, Table, kind_of_holder

if TYPE_CHECKING:
    from ..calling.values import Values

FILLS = ("register", "register_builder", "register_class", "register_model", "register_factory", "register_module")


def factory_tables(index: Index, values: Values) -> Iterator[Table]:
    """One for each holder with several names, or one that is called a factory; its kind is the holder's name: "algo" of algo_factory."""
    found: dict[str, dict[str, Entry]] = {}
    for site in index.calls(*FILLS):
        if _fills(site.call) and site.call.receiver is not None:
            name, builder = site.call.arguments[:2]
            for made in made_by(values, site.function, builder):
                found.setdefault(site.call.receiver.last, {}).setdefault(name.text, made)
    for holder, entries in found.items():
        kind = kind_of_holder(holder)
        if len(entries) > 1 or kind:
            yield Table(entries, "", kind or holder.lower())


def is_left_aside(values: Values, function: Function, event: Event) -> bool:
    """The statement puts into a registry what the settings do not ask for."""
    call = event.value
    if call is None or not (call.kind == "call" and call.last in FILLS and _fills(call)):
        return False
    return any(one in values.known.excluded for one in made_by(values, function, call.arguments[1]))


def _fills(call: Expr) -> bool:
    return len(call.arguments) > 1 and call.arguments[0].kind == "string"


def made_by(values: Values, function: Function, builder: Expr) -> Iterator[Class | Function]:
    """What a builder makes: a class, a function, or what the lambda around one calls."""
    inner = builder.parts[0] if builder.kind == "lambda" else builder
    called = inner.parts[0] if inner.kind == "call" else inner
    for one in values.callables(function, called)[:1]:
        if isinstance(one, Class | Function):
            yield one
