"""Nested literals as flat tables: dict(model=dict(type="A")) is {"model.type": A}."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainsleuth.facts import Expr, written

_SCALARS = ("number", "string", "constant", "unary")
_TABLES = ("dict", "Dict", "OrderedDict", "EasyDict", "edict", "AttrDict", "ConfigDict", "Namespace", "SimpleNamespace", "Munch", "HParams", "DotDict", "CfgNode")  # fmt: skip
_HOLDERS = ("LazyDict", "DictConfig")  # what else they are given is about the table: flags={"allow_objects": True}
_WORDS: dict[str, Any] = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False, "": False, "none": None, "null": None}  # fmt: skip
MAX_DEPTH = 8


def is_literal(expr: Expr) -> bool:
    """Numbers, strings, constants, and what is made of nothing else."""
    if expr.kind in _SCALARS or expr.kind in ("tuple", "list", "binary", "dict", "set", "pair"):
        return all(is_literal(part) for part in expr.parts)
    return False


def is_table(expr: Expr) -> bool:
    """{...} or dict(...), or another class that holds nothing but its keywords."""
    return expr.kind == "dict" or (expr.kind == "call" and expr.last in _TABLES)


def is_made_later(expr: Expr) -> bool:
    """L(Network)(depth=50): what is made, then what it is made with."""
    maker = expr.parts[0] if expr.kind == "call" else expr
    return maker.kind == "call" and len(maker.arguments) == 1 and maker.arguments[0].kind == "path"


def flat(expr: Expr, prefix: str, depth: int = 0) -> Iterator[tuple[str, Expr]]:
    """(dotted key, value) of every value in a nested table; lists of tables count from 0."""
    inner = _items(expr) if depth < MAX_DEPTH else None
    if inner is None:
        if prefix:
            yield prefix, expr
        return
    for name, value in inner:
        yield from flat(value, f"{prefix}.{name.strip('.')}" if prefix else name, depth + 1)


def text_of(expr: Expr) -> str:
    """As a configuration file would have it: a string without its quotes."""
    return expr.text if expr.kind == "string" else written(expr, 80)


def plain(text: str) -> Any:
    """A written value as what it stands for; a string stays one."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return float(text)
    except ValueError:
        return text


def _items(expr: Expr) -> list[tuple[str, Expr]] | None:
    if expr.kind == "dict":
        pairs = [pair for pair in expr.parts if pair.kind == "pair" and pair.parts[0].kind == "string"]
        return [(pair.parts[0].text, pair.parts[1]) for pair in pairs] if pairs else None
    if is_made_later(expr):
        made = [(part.text, part.parts[0]) for part in expr.parts[1:] if part.kind == "keyword"]
        return [("_target_", expr.parts[0].arguments[0]), *made]
    if expr.kind == "call" and expr.last in _HOLDERS and expr.arguments and is_table(expr.arguments[0]):
        return _items(expr.arguments[0])
    if expr.kind == "call" and expr.last in _TABLES:
        inner = [(part.text, part.parts[0]) for part in expr.parts[1:] if part.kind == "keyword"]
        given = [item for part in expr.arguments if part.kind == "dict" for item in _items(part) or ()]
        return [*given, *inner] or None
    if (
        expr.kind in ("list", "tuple")
        and expr.parts
        and all(is_table(part) or is_made_later(part) for part in expr.parts)
    ):
        return [(str(place), part) for place, part in enumerate(expr.parts)]
    return None
