"""What a program's own resolvers of OmegaConf make of their arguments: register_new_resolver("times", lambda x, y: x * y)."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

from trainsleuth.facts import Event, Expr, Function

from ...calling.optional_imports import resolve
from ...program import Program

_REGISTERS = ("register_new_resolver", "register_resolver")
_WRITTEN = re.compile(rb"\bregister_(?:new_)?resolver\b")
_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv, "%": operator.mod}  # fmt: skip
_OF_ONE: Mapping[str, Callable[[Any], Any]] = {"int": int, "float": float, "str": str, "abs": abs, "ceil": math.ceil, "floor": math.floor, "sqrt": math.sqrt, "array": lambda one: one}  # fmt: skip
_OF_MANY: Mapping[str, Callable[[Any], Any]] = {"prod": lambda many: reduce(operator.mul, many), "sum": sum, "max": max, "min": min}  # fmt: skip
_MODULES = ("", "math", "np", "numpy")
MOST = 1e15  # beyond it nobody means a setting


class UnknownResultError(Exception):
    """What a resolver makes of its arguments cannot be told."""


Resolvers = Mapping[str, tuple[Function, Expr]]


def resolvers(program: Program) -> Resolvers:
    """By its name what is registered, with the function in which that is done; none of a name that has two."""
    found: dict[str, tuple[Function, Expr]] = {}
    twice: set[str] = set()
    for function, _ in program.functions():
        for call in _registering(function) if function.source.holds(_WRITTEN) else ():
            name = call.arguments[0].text
            twice.update([name] if name in found else [])
            found[name] = function, call.arguments[1]
    return {name: one for name, one in found.items() if name not in twice}


def _registering(function: Function) -> Sequence[Expr]:
    calls = (call for event in function.events for call in event.calls if call.last in _REGISTERS)
    return [call for call in calls if len(call.arguments) == 2 and call.arguments[0].kind == "string"]


def result(program: Program, known: Resolvers, name: str, arguments: Sequence[Any]) -> Any:
    """What the resolver `name` gives for the arguments."""
    if name not in known:
        raise UnknownResultError
    function, made = known[name]
    names, body = _body(program, function, made)
    if len(names) == 1 and names[0].startswith("*"):
        return _worth(body, {names[0].lstrip("*"): list(arguments)})
    if len(names) != len(arguments):
        raise UnknownResultError
    return _worth(body, dict(zip(names, arguments, strict=True)))


def _body(program: Program, function: Function, made: Expr) -> tuple[list[str], Expr]:
    """The parameters of a lambda, or of a function that only gives something back, and what it gives back."""
    if made.kind == "lambda":
        return [name.strip() for name in made.text.split(",") if name], made.parts[0]
    named = resolve(program.index, function, made.text) if made.kind == "path" else None
    events = named.events if isinstance(named, Function) else ()
    given = [event for event in events if event.kind == "return"]
    others = any(event.kind != "return" and not _is_text(event) for event in events)
    if (
        not isinstance(named, Function)
        or len(given) != 1
        or given[0].value is None
        or others
        or given[0].block.branches
    ):
        raise UnknownResultError
    return [f"{one.kind}{one.name}" for one in named.parameters], given[0].value


def _is_text(event: Event) -> bool:
    """What a function does in words."""
    return event.kind == "expr" and not event.calls


def _worth(expr: Expr, known: Mapping[str, Any]) -> Any:
    if expr.kind == "path" and expr.text in known:
        return known[expr.text]
    if expr.kind == "number":
        return float(expr.text) if re.search(r"[.eE]", expr.text) else int(expr.text)
    if expr.kind == "binary" and expr.text in (*_OPERATORS, "**") and len(expr.parts) == 2:
        return _calculated(expr.text, *(_worth(part, known) for part in expr.parts))
    if expr.kind == "call" and expr.last == "item" and not expr.arguments and expr.receiver is not None:
        return _worth(expr.parts[0].parts[0], known) if expr.parts[0].kind == "attr" else _worth(expr.receiver, known)
    if expr.kind == "call" and expr.callee.rpartition(".")[0] in _MODULES and len(expr.arguments) == 1:
        inner = _worth(expr.arguments[0], known)
        if expr.last in _OF_MANY and isinstance(inner, list) and inner:
            return _OF_MANY[expr.last](inner)
        if expr.last in _OF_ONE:
            return _OF_ONE[expr.last](inner)
    raise UnknownResultError


def _calculated(sign: str, left: Any, right: Any) -> Any:
    are_texts = isinstance(left, str) and isinstance(right, str) and sign == "+"
    if not are_texts and not all(isinstance(one, int | float) and abs(one) < MOST for one in (left, right)):
        raise UnknownResultError
    if sign != "**":
        return _OPERATORS[sign](left, right)
    if abs(right) > MOST_POWER:
        raise UnknownResultError
    return left**right


MOST_POWER = 64
