"""Names that code spells as constants: Losses.MSE of a class of names, Loss.MSE.value of an enum, MSE_NAME of a module."""

from __future__ import annotations

from trainsleuth.facts import Class, Expr, Function, Index, Variable
from trainsleuth.facts.reading.scopes import bindings

from ..naming.only_values import only_value


def constant_text(index: Index, scope: Function, given: Expr) -> str:
    """The string that an expression is, or that the constant holds that it names; "" when neither is seen."""
    if given.kind != "path":
        return given.text if given.kind == "string" else ""
    path = given.text.removesuffix(".value")
    symbol = index.resolve(scope, path)
    if isinstance(symbol, Variable):
        return _bound_to(symbol.scope, symbol.name)
    holder, _, last = path.rpartition(".")
    owner = index.resolve(scope, holder) if holder else None
    lineage = index.lineage(owner) if isinstance(owner, Class) else ()
    return next((text for cls in lineage if (text := _bound_to(cls.body, last))), "")


def members_like(index: Index, scope: Function, given: Expr) -> tuple[frozenset[str], frozenset[str]]:
    """Of a member of a class of names, Arch.UNet: what may be said for it, its name and its string, and for any member, in
    small letters. Both are empty for anything else.
    """
    holder, _, last = given.text.removesuffix(".value").removesuffix(".name").rpartition(".")
    owner = index.resolve(scope, holder) if given.kind == "path" and holder else None
    if not isinstance(owner, Class) or not bindings(owner.body).get(last):
        return frozenset(), frozenset()
    every = {name: {name.lower(), _bound_to(owner.body, name).lower()} - {""} for name in bindings(owner.body)}
    return frozenset(every[last]), frozenset().union(*every.values())


def _bound_to(scope: Function, name: str) -> str:
    value = only_value(scope, name)
    return value.text if value is not None and value.kind == "string" else ""
