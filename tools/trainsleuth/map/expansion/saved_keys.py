"""The keys of a table that is saved: those it is written with, and what is put into it later."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from trainsleuth.facts import Expr, Function, bindings, written

Never = Callable[[int], bool]  # of a line of the function: it does not run
_TABLES = ("dict", "OrderedDict")


def keys_of(function: Function, given: Expr, never: Never) -> Iterator[str]:
    """Of {...} and dict(...), of a name that is bound to one, and what is put into it later by lines that may run."""
    if is_table(given):
        for part in given.parts:
            if part.kind == "pair" and part.parts[0].kind == "string":
                key, value = part.parts
                inner = ", ".join(keys_of(function, value, never)) if value.kind == "dict" else ""
                yield f"{key.text} ({inner})" if inner else key.text
            elif part.kind == "keyword":
                yield part.text
            elif part.kind == "doublestar":
                yield f"**{written(part.parts[0], 30)}"
    elif given.kind == "path" and "." not in given.text:
        tables = _tables_of(function, given.text)
        if tables and all(map(is_table, tables)):
            yield from (key for one in tables for key in keys_of(function, one, never))
            yield from put_in(function, given.text, never)


def _tables_of(function: Function, name: str) -> list[Expr]:
    bound = [one for one in bindings(function).get(name, ()) if one.kind not in ("append", "extend")]
    return [one.value for one in bound if one.value is not None]


def is_table(value: Expr) -> bool:
    return value.kind == "dict" or (value.kind == "call" and value.last in _TABLES)


def put_in(function: Function, name: str, never: Never) -> Iterator[str]:
    """state["epoch"] = 1, state.update(optimizer=...), state.update(more)"""
    for event in function.events:
        keys = [
            one.parts[-1].text
            for one in event.targets
            if one.kind == "index" and one.parts[0].text == name and one.parts[-1].kind == "string"
        ]
        updates = [one for one in event.calls if one.callee == f"{name}.update"]
        if (keys or updates) and not never(event.line):
            yield from keys
            for call in updates:
                yield from (part.text for part in call.parts[1:] if part.kind == "keyword")
                yield from (key for one in call.arguments[:1] for key in _updated(function, one, never))


def _updated(function: Function, given: Expr, never: Never) -> Iterator[str]:
    """Of a name what each table says that it is bound to; **name where none is written down."""
    tables = _tables_of(function, given.text) if given.kind == "path" else [given]
    found = [key for one in tables if is_table(one) for key in keys_of(function, one, never)]
    yield from found or [f"**{written(given, 30)}"]
