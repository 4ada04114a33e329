"""A name that is one module or another, whose Trainer is made then: engine = fast if args.fast else plain, or
ENGINES[name]["engine"].
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Class, Expr, Function, Index, Module, Variable
from trainsleuth.facts.reading.scopes import bindings

from ..recipe.branches import Settled, arms_of, is_not_chosen
from .written_out import written_out


def members_of_chosen(index: Index, settled: Settled, expr: Expr) -> Iterator[Class | Function]:
    """What `engine.Trainer` is, of each module that the settings leave."""
    head = expr.receiver
    held = index.resolve(settled.function, head.text) if head is not None and head.kind == "path" else None
    if not isinstance(held, Variable):
        return
    within = Settled(settled.known, index, held.scope)
    for one in bindings(held.scope).get(held.name, ()):
        if one.value is None or one.kind != "assign" or is_not_chosen(held.scope.events[one.position], within):
            continue
        for arm in arms_of(one.value, within) if one.value.kind == "choice" else (one.value,):
            for scope, value in written_out(within, arm) if arm.kind == "index" else ((held.scope, arm),):
                module = index.resolve(scope, value.text) if value.kind == "path" else None
                member = index.names.member(module, expr.last) if isinstance(module, Module) else None
                if isinstance(member, Class | Function):
                    yield member
