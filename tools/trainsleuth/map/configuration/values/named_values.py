"""What an expression says of a value by its names alone: a member, a table's names, the key that it reads."""

from __future__ import annotations

import re

from trainsleuth.facts import MODULE_BODY, Class, Expr, Function, Index, Variable, bindings, written

from ...naming.only_values import only_value
from ..forms.literals import is_literal, text_of
from ..records import Key, Layer


def names_in(index: Index, function: Function, held: Expr) -> frozenset[str]:
    """The names in a literal table or list at the top of a file: MODELS, MODELS.keys()."""
    if held.kind == "call" and held.last == "keys" and held.receiver is not None:
        held = held.receiver
    symbol = index.resolve(function, held.text) if held.kind == "path" else None
    if not isinstance(symbol, Variable) or symbol.scope.name != MODULE_BODY:
        return frozenset()
    table = only_value(symbol.scope, symbol.name)
    if table is None or table.kind not in ("dict", "list", "tuple", "set"):
        return frozenset()
    names = [part.parts[0] if part.kind == "pair" else part for part in table.parts]
    return frozenset(one.text for one in names) if all(one.kind == "string" for one in names) else frozenset()


def constant_key(index: Index, function: Function, name: str) -> Key | None:
    """A constant that is written out once at the top of a file, this one or another: MAX_RATIO = 0."""
    symbol = index.resolve(function, name) if _CONSTANT.fullmatch(name) else None
    if not isinstance(symbol, Variable) or symbol.scope.name != MODULE_BODY:
        return None
    value = only_value(symbol.scope, symbol.name)
    if (
        index.global_bindings(symbol.scope.path, symbol.name)
        or value is None
        or value.kind not in ("number", "constant", "string")
    ):
        return None
    return Key(name, (Layer("default", symbol.scope.path, value.line, value.text),), (), "read")


_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]+")


def method_around(index: Index, function: Function) -> Function:
    """The method that a function is written in, whose `self` it uses; itself when there is none."""
    around: Function | None = function
    while around is not None and not around.self_name:
        around = index.files[function.path].functions.get(around.outer) if around.outer else None
    return around or function


def member(index: Index, function: Function, dotted: str) -> str | None:
    """The text that a member of an enumeration of the project is worth: Mode.DDP."""
    head, _, name = dotted.rpartition(".")
    if not head[:1].isupper() or not name.isupper() or "." in head:
        return None
    cls = index.resolve(function, head)
    if not isinstance(cls, Class) or not any(base.last.endswith("Enum") for base in cls.bases):
        return None
    found = (one.value for one in cls.body.events if any(target.text == name for target in one.targets))
    value = next(found, None)
    return value.text if value is not None and value.kind == "string" else None


def member_named(index: Index, path: str, default: str, word: str) -> str | None:
    """The text behind `word`, a member or its text, in the enumeration of a `default` in a file: OUMI beside Trainers.HF."""
    file = index.files.get(path)
    if file is None or not _MEMBER.fullmatch(default) or member(index, file.body, default) is None:
        return None
    if word == default:
        return member(index, file.body, default)
    return member(index, file.body, f"{default.rpartition('.')[0]}.{word}")


_MEMBER = re.compile(r"[A-Z]\w*\.[A-Z0-9_]+")


def is_test(expr: Expr) -> bool:
    """Its value is True or False, nothing else: not that of `name or "adam"`."""
    if expr.kind == "boolean":
        return all(is_test(part) for part in expr.parts)
    return expr.kind == "compare" or (expr.kind == "unary" and expr.text == "not")


def key_asked(expr: Expr) -> str:
    """The key that an expression reads, "" for none: cfg.kind, cfg["kind"], cfg.get("kind", "adam"), getattr(cfg, "kind")."""
    if expr.kind == "path":
        return expr.text
    held, name = None, None
    if expr.kind == "index" and len(expr.parts) == 2:
        held, name = expr.parts
    elif expr.kind == "call" and expr.last == "get" and expr.arguments:
        held, name = expr.receiver, expr.arguments[0]
    elif expr.kind == "call" and expr.callee == "getattr" and len(expr.arguments) > 1:
        held, name = expr.arguments[:2]
    if held is None or name is None or name.kind != "string":
        return ""
    return f"{(held.kind != 'path' and key_asked(held)) or written(held)}.{name.text}"


def text_in(function: Function, value: Expr) -> str | None:
    """A value as it is written in `function`, of a local name what it is bound to; None when that does not tell."""
    if value.kind != "path" or "." in value.text:
        return text_of(value) if is_literal(value) else written(value, 80)
    bound = bindings(function).get(value.text, ())
    given = [one.value for one in bound if one.value is not None and one.kind == "assign" and not one.items]
    if not bound:
        return value.text if function.parameter(value.text) is None else None
    if len(given) < len(bound):
        return None
    return " or ".join(dict.fromkeys(text_of(one) if is_literal(one) else written(one, 80) for one in given))
