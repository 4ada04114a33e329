"""What a constructor sets to literals: self.lr = 0.1."""

from __future__ import annotations

from trainsleuth.facts import Class, Expr

from .literals import is_literal


def own_attributes(cls: Class) -> list[tuple[str, Expr]]:
    """Names and literals, in the order of the constructor that the class itself has."""
    init = cls.methods.get("__init__")
    if init is None:
        return []
    return [
        (target.text.rpartition(".")[2], event.value)
        for event in init.events
        if event.kind == "assign" and event.value is not None and is_literal(event.value)
        for target in event.targets
        if target.text.rpartition(".")[0] == init.self_name
    ]
