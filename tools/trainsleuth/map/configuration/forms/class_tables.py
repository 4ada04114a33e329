"""Classes of settings as flat tables: class Config: train: Train = field(default_factory=Train) has "train.epochs"."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Class, ConfigValue, Expr, Function, Index

from ...naming.only_values import held_by_variable
from .literals import flat, is_literal, text_of

MAX_DEPTH = 6  # classes inside of classes
MAX_ENTRIES = 2000  # of one class: of ten fields that hold ten each there are soon a million
_FIELD = ("field", "Field", "attrib", "ib")
_DEFAULT = ("default", "default_factory", "factory")


def class_table(index: Index, cls: Class, depth: int = 0) -> dict[str, ConfigValue]:
    """What an object holds that is made without arguments, bases included; what has to be given is "???"."""
    table: dict[str, ConfigValue] = {}
    for base in reversed(index.lineage(cls)) if depth <= MAX_DEPTH else ():
        for name, value, line in _fields(base):
            if len(table) < MAX_ENTRIES:
                _put(table, name, _values(index, base.body, value, line, depth))
    return table


def class_defaults(index: Index, cls: Class) -> Expr | None:
    """The display that is the field `defaults`: what Hydra composes before it, or behind."""
    for base in index.lineage(cls):
        value = next((value for name, value, _ in _fields(base) if name == "defaults"), None)
        if value is not None and value.kind == "path":
            scope = index.files[base.path].body if value.text == "defaults" else base.body  # not the field itself
            held = held_by_variable(index, scope, value)
            value = held[1] if held is not None else value
        if value is not None:
            return value if value.kind in ("list", "tuple") else None
    return None


def _fields(cls: Class) -> Iterator[tuple[str, Expr | None, int]]:
    """Name, default, line. A lambda that makes a default stands for what it gives."""
    for event in cls.body.events:
        name = event.targets[0].text if event.kind == "assign" and event.targets else ""
        if not name.isidentifier() or "ClassVar" in event.text:
            continue
        value = event.value
        if value is not None and value.kind == "call" and value.last in _FIELD:
            value = value.argument(0, *_DEFAULT) or next(filter(None, map(value.keyword, _DEFAULT)), None)
        if value is not None and value.kind == "lambda" and value.parts:
            value = value.parts[-1]
        yield name, value, event.line


def _values(index: Index, scope: Function, value: Expr | None, line: int, depth: int) -> dict[str, ConfigValue]:
    """By the key below the field, "" for the field itself."""
    if value is None or value.last == "MISSING":
        return {"": ConfigValue("???", line, scope.path)}
    named = value.parts[0] if value.kind == "call" else value
    symbol = index.resolve(scope, named.text) if named.kind == "path" else None
    if isinstance(symbol, Class) and (table := class_table(index, symbol, depth + 1)):
        for part in value.parts[1:] if value.kind == "call" else ():
            if part.kind == "keyword":
                _put(table, part.text, _values(index, scope, part.parts[0], part.line, depth + 1))
        return table
    if (held := held_by_variable(index, scope, named)) is not None and is_literal(held[1]):
        value = held[1]
    if value.kind == "dict" and value.parts:
        return {key: ConfigValue(text_of(one), one.line, scope.path) for key, one in flat(value, "")}
    return {"": ConfigValue(text_of(value), line, scope.path)}


def _put(table: dict[str, ConfigValue], name: str, values: dict[str, ConfigValue]) -> None:
    """In place of all that stood under the name."""
    for key in [one for one in table if one == name or one.startswith(f"{name}.")]:
        del table[key]
    table.update({f"{name}.{key}" if key else name: value for key, value in values.items()})
