"""What the code takes for a key that nobody sets: conf.get("max_norm", 0.0), Argument("max_norm", float, default=0.0)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from trainsleuth.facts import Expr, Function

from ...program import Program
from ...recipe.held_settings import WORDS
from ..forms.literals import is_literal, text_of
from ..records import Definition
from .named_values import key_asked

_HOLDS = re.compile(rf"(?:^|[._])(?:{WORDS})$", re.I)
_IS_FILE = re.compile(r"_?(?:config|cfg|conf|hparams|hps|settings)", re.I)  # not args, whose attributes are options
_SCHEMA = ("Argument", "Arg", "Field", "Param", "Option")
_KEY = re.compile(r"[A-Za-z_]\w*")
_OPEN = ("None", "", "{}", "[]", "()")  # says nothing of what the code then does


def fallbacks(program: Program) -> Iterator[Definition]:
    """Values of keys with a literal fallback, where all code that the program reaches agrees on it; with a recipe only.

    Keys by their plain names. What a schema of arguments says counts for a name that only one of its arguments has.
    """
    read: dict[str, list[Definition]] = {}
    declared: dict[str, list[Definition]] = {}
    variants: dict[str, Definition] = {}  # by the function that gives them
    holders: list[tuple[str, Expr]] = []
    for function, _ in program.functions() if program.config_paths else ():
        for event in function.events:
            for call in event.calls:
                if (one := _read(function, call)) is not None:
                    read.setdefault(one.name, []).append(one)
                elif (one := _declared(function, call)) is not None:
                    declared.setdefault(one.name, []).append(one)
                elif (one := _declared(function, call, "Variant", "default_tag")) is not None:
                    variants[function.name] = one
                elif call.last in _SCHEMA and call.arguments and call.arguments[0].kind == "string":
                    holders.append((call.arguments[0].text, call))
    for section, call in holders:
        for part in _own_parts(call):
            if part.kind == "call" and (found := variants.get(part.last)) is not None:
                yield found._replace(name=f"{section}.{found.name}")
    yield from _agreed(read)
    yield from _agreed({name: found for name, found in declared.items() if name not in read and len(found) == 1})


def _own_parts(expr: Expr) -> Iterator[Expr]:
    """What is in an argument of a schema, but not in the arguments inside of it."""
    for part in expr.parts:
        if part.kind != "call" or part.last not in _SCHEMA:
            yield part
            yield from _own_parts(part)


def _agreed(found: Mapping[str, list[Definition]]) -> Iterator[Definition]:
    for alike in found.values():
        if len({_plain(one.value) for one in alike}) == 1 and alike[0].value not in _OPEN:
            yield alike[0]


def _plain(value: str) -> str | float:
    try:
        return float(value)
    except ValueError:
        return value


def _read(function: Function, call: Expr) -> Definition | None:
    """conf.get("name", literal), also conf.get("section", {}).get("name", literal), and getattr(args.conf, "name", literal)"""
    given = call.arguments
    if call.callee == "getattr" and len(given) == 3 and given[1].kind == "string" and is_literal(given[2]):
        is_held = given[0].kind == "path" and _IS_FILE.fullmatch(given[0].last) is not None
        return Definition(given[1].text, function.path, call.line, text_of(given[2])) if is_held else None
    if call.last != "get" or len(given) != 2 or not is_literal(given[1]):
        return None
    held, _, name = key_asked(call).rpartition(".")
    is_held = _HOLDS.search(held) is not None or _HOLDS.search(held.partition(".")[0]) is not None
    if not is_held or _KEY.fullmatch(name) is None:
        return None
    return Definition(name, function.path, call.line, text_of(given[1]))


def _declared(function: Function, call: Expr, schema: str = "", word: str = "default") -> Definition | None:
    """Argument("name", type, default=literal), Variant("type", [...], default_tag=literal)"""
    default = call.keyword(word)
    if call.last not in ((schema,) if schema else _SCHEMA) or default is None or not is_literal(default):
        return None
    name = call.arguments[0] if call.arguments else None
    if name is None or name.kind != "string" or _KEY.fullmatch(name.text) is None:
        return None
    return Definition(name.text, function.path, call.line, text_of(default))
