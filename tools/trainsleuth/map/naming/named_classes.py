"""Where code names a class of the project without making an object of it: loader_class = JointLoader, return JointLoader."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from trainsleuth.facts import Class, Expr, Function, Index

_ASKS = ("isinstance", "issubclass", "super", "hasattr", "cast")


def named_classes(index: Index, functions: Iterable[Function]) -> Mapping[Class, list[tuple[Function, int]]]:
    """Function and line, of every class that one of `functions` names; a call of it is no such place."""
    found: dict[Class, list[tuple[Function, int]]] = {}
    for function in functions:
        known: dict[str, Class | None] = {}
        for event in function.events:
            for name in _names(event.value) if event.value is not None else ():
                if name not in known:
                    symbol = index.resolve(function, name)
                    known[name] = symbol if isinstance(symbol, Class) else None
                if (cls := known[name]) is not None:
                    found.setdefault(cls, []).append((function, event.line))
    return found


def _names(expr: Expr) -> Iterator[str]:
    """Dotted names that may be those of classes, as values: not the callee of a call."""
    if expr.kind == "path":
        if expr.last[:1].isupper():
            yield expr.text
        return
    parts = expr.parts
    if expr.kind == "call":
        if expr.last in _ASKS:
            return
        head = parts[0] if parts else None
        if head is not None and head.kind == "path" and not head.last[:1].isupper():
            owner = head.text.rpartition(".")[0]  # Loader.of(path)
            if owner.rpartition(".")[2][:1].isupper():
                yield owner
        parts = parts[1:] if head is not None and head.kind == "path" else parts
    for part in parts:
        yield from _names(part)
