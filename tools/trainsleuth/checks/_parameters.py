"""What a parameter is in every call that there is: its default, or what the calls give."""

from __future__ import annotations

from trainsleuth.facts import Expr, Function, Index, bindings

from ._options import as_written, member_named, option_name


def given_or_left(index: Index, expr: Expr, function: Function) -> set[str]:
    """Of a parameter with a default, or of self.clip that was given one: its values over all calls that bear the name of
    its function, as written; Kind.FULL of a member of an enumeration; "?" where one is no constant. Empty where it is
    neither.

    A call that hands on an option of the same name (clip=args.clip) gives nothing new.
    """
    own, dot, rest = expr.text.partition(".") if expr.kind == "path" else ("", "", "")
    if dot and own == function.self_name and "." not in rest:
        cls = index.class_of(function)
        made = list(index.hierarchy.attribute_bindings(cls, rest)) if cls is not None else []
        if len(made) != 1 or made[0][1].value is None or made[0][1].value.kind != "path":
            return set()
        return _values(index, made[0][0], made[0][1].value.text)
    return _values(index, function, own) if own and not dot and not bindings(function).get(own) else set()


def _values(index: Index, function: Function, name: str) -> set[str]:
    parameter = function.parameter(name)
    if parameter is None or parameter.default is None or parameter.kind or bindings(function).get(name):
        return set()
    names = [one.name for one in function.parameters]
    place = names.index(name) - bool(function.self_name)
    called = function.owner.rpartition(".")[2] if function.name == "__init__" else function.name
    found = set()
    for site in index.calls(called, *_below(index, function)):
        given = site.call.argument(place, name)
        if given is not None and option_name(given) != name:
            found.add(_as_written(index, given, site.function))
        elif given is None:
            is_spread = any(part.kind in ("star", "doublestar") for part in site.call.parts[1:])
            found.add("?" if is_spread else _as_written(index, parameter.default, function))
    return found or {_as_written(index, parameter.default, function)}


def _as_written(index: Index, expr: Expr, function: Function) -> str:
    return member_named(index, expr, function) or as_written(expr)


def _below(index: Index, function: Function) -> list[str]:
    cls = index.class_of(function) if function.name == "__init__" else None
    return [one.name for one in index.subclasses(cls)] if cls is not None else []
