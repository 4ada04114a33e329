"""What one name at the top of a Python file holds, flat: a table, a class of settings, a function that makes one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainsleuth.facts import Class, ConfigValue, Expr, Function, Index, bindings

from .assigned_tables import assigned
from .class_tables import class_defaults, class_table
from .config_functions import set_in
from .literals import flat, text_of
from .spelled import Spelling

_DEFAULTS = "defaults"


def held_table(index: Index, path: str, name: str) -> Mapping[str, ConfigValue]:
    """Keys below `name`; a defaults list reads like one of a file: "defaults.0.override /net". {} for nothing."""
    file = index.files[path]
    if (cls := file.classes.get(name)) is not None:
        return _with_defaults(index, cls.body, class_table(index, cls), class_defaults(index, cls))
    if (function := file.functions.get(name)) is not None:
        return _made_by(index, function)
    start = f"{name}."
    table = {key[len(start) :]: one for key, one in assigned(index, path).items() if key.startswith(start)}
    bound = [one.value for one in bindings(file.body).get(name, ()) if one.value is not None]
    if bound and (cls := _made(index, file.body, bound[-1])) is not None:
        return _with_defaults(index, cls.body, {**class_table(index, cls), **table}, class_defaults(index, cls))
    told = dict(flat(bound[-1], "")) if bound else {}
    return _with_defaults(index, file.body, table, told.get(_DEFAULTS))


def _made_by(index: Index, function: Function) -> Mapping[str, ConfigValue]:
    """c = Config(model=None); c.trainer.max_iter = 400: return c"""
    given = next((one.value for one in function.events if one.kind == "return" and one.value is not None), None)
    bound = bindings(function).get(given.text, ()) if given is not None and given.kind == "path" else ()
    made = bound[0].value if bound else given
    cls = _made(index, function, made) if made is not None else None
    if cls is None or made is None:
        return {}
    table = class_table(index, cls)
    table.update((part.text, _value(part.parts[0])) for part in made.parts[1:] if part.kind == "keyword")
    for key, value in set_in(index, function).items():
        for one in [one for one in table if one.startswith(f"{key}.")]:
            del table[one]
        table[key] = value
    return _with_defaults(index, cls.body, table, class_defaults(index, cls))


def _made(index: Index, scope: Function, value: Expr) -> Class | None:
    symbol = index.resolve(scope, value.callee) if value.kind == "call" and value.callee else None
    return symbol if isinstance(symbol, Class) else None


def _value(value: Expr) -> ConfigValue:
    return ConfigValue(text_of(value), value.line)


def _with_defaults(
    index: Index, scope: Function, table: Mapping[str, ConfigValue], said: Expr | None
) -> Mapping[str, ConfigValue]:
    rest = {key: one for key, one in table.items() if key != _DEFAULTS and not key.startswith(f"{_DEFAULTS}.")}
    return {**dict(_entries(index, scope, said)), **rest} if said is not None else rest


def _entries(index: Index, scope: Function, said: Expr) -> Iterator[tuple[str, ConfigValue]]:
    spelling = Spelling(index, scope)
    for place, item in enumerate(said.parts):
        key = f"{_DEFAULTS}.{place}"
        for pair in item.parts if item.kind == "dict" else ():
            group = spelling.of(pair.parts[0]) if pair.kind == "pair" else None
            options = pair.parts[-1].parts if pair.parts[-1].kind in ("list", "tuple") else (pair.parts[-1],)
            for number, option in enumerate(options):
                text = spelling.of(option) or text_of(option)
                yield f"{key}.{group}" + (f".{number}" if len(options) > 1 else ""), ConfigValue(text, option.line)
        if item.kind != "dict":
            yield key, ConfigValue(spelling.of(item) or text_of(item), item.line)
