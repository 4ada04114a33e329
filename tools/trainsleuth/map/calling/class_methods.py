"""The class whose object a class method makes: Run.create(), where create() of a base ends in `return cls()`."""

from __future__ import annotations

from trainsleuth.facts import Class, Expr, Function, Index


def made_through(index: Index, function: Function, call: Expr, method: Function) -> Class | None:
    """The class that a call in `function` asks, when the class method that it calls makes objects of `cls`."""
    holder = call.receiver if "cls" in method.called else None
    asked = index.resolve(function, holder.text) if holder is not None and holder.kind == "path" else None
    return asked if isinstance(asked, Class) else None
