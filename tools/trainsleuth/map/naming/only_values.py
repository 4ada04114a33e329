"""What a name is worth that is assigned once: in a scope, in the file that it stands in, or at the top of another."""

from __future__ import annotations

from trainsleuth.facts import Expr, Function, Index, Variable, bindings

Held = tuple[Function, Expr]  # a value, and the scope that it stands in


def only_value(scope: Function, name: str) -> Expr | None:
    """None where it is bound several times, in another way, or to a part of a value."""
    bound = bindings(scope).get(name, ())
    return bound[0].value if len(bound) == 1 and bound[0].kind == "assign" and not bound[0].items else None


def held_nearby(index: Index, function: Function, name: Expr) -> Held | None:
    """In the function, or else at the top of its file."""
    if name.kind != "path":
        return None
    body = index.files[function.path].body
    scope = function if bindings(function).get(name.text) else body
    value = only_value(scope, name.text)
    return (scope, value) if value is not None else None


def held_by_variable(index: Index, function: Function, name: Expr) -> Held | None:
    """Where the name leads, over imports too."""
    symbol = index.resolve(function, name.text) if name.kind == "path" else None
    value = only_value(symbol.scope, symbol.name) if isinstance(symbol, Variable) else None
    return (symbol.scope, value) if isinstance(symbol, Variable) and value is not None else None
