"""Names in a table that a function is handed: criterion = parts["criterion"], called with {"criterion": criterion}."""

from __future__ import annotations

from itertools import islice

from trainsleuth.facts import Expr, Function, bindings

from .scope import Scope


def entry_asked(scope: Scope, asked: Expr) -> tuple[Scope, Expr] | None:
    """The name under a key of a literal table, and the statement that it stands in. None where what is asked may hold
    another table, or the table gets other entries."""
    if asked.kind != "index" or len(asked.parts) != 2 or asked.parts[1].kind != "string" or scope.hops < 1:
        return None
    name, key = asked.parts[0], asked.parts[1].text
    if name.kind != "path" or "." in name.text:
        return None
    place, table = _table(scope, name.text) or (scope, name)
    pairs = [one for one in table.parts if one.kind == "pair"] if table.kind == "dict" else []
    found = [one.parts[1] for one in pairs if one.parts[0].kind == "string" and one.parts[0].text == key]
    is_name = len(found) == 1 and found[0].kind == "path" and len(pairs) == len(table.parts)
    return (place, found[0]) if is_name else None


def _table(scope: Scope, name: str) -> tuple[Scope, Expr] | None:
    """What the name is bound to once, here or by the only call that gives it, whose table nobody changes."""
    bound = bindings(scope.function).get(name, ())
    if not bound and scope.function.parameter(name) is not None:
        return _given(scope, name)
    if len(bound) != 1 or bound[0].kind != "assign" or bound[0].items or bound[0].value is None:
        return None
    changed = any(_changes(scope.function, position, name) for position in range(len(scope.function.events)))
    return None if changed else (scope.at(scope.function, bound[0].position), bound[0].value)


def _given(scope: Scope, name: str) -> tuple[Scope, Expr] | None:
    order = [one.name for one in scope.function.parameters if one.name != scope.function.self_name]
    sites = list(islice(scope.truth.program.sites_of(scope.function), 2))
    given = sites[0].call.argument(order.index(name), name) if len(sites) == 1 and name in order else None
    if (
        given is None
        or scope.hops < 1
        or any(_changes(scope.function, at, name) for at in range(len(scope.function.events)))
    ):
        return None
    outer = scope.at(sites[0].function, sites[0].position)
    if given.kind == "path" and "." not in given.text:
        return _table(outer, given.text)
    return outer, given


def _changes(function: Function, position: int, name: str) -> bool:
    """table["key"] = value, table.update(...), table.pop(...)"""
    event = function.events[position]
    put = any(one.kind == "index" and one.parts[0].text == name for one in event.targets)
    return put or any(
        call.receiver is not None and call.receiver.text == name and call.last != "get" for call in event.calls
    )
