"""Tests of the code, read with the configuration: which branch the settings are known not to take."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from trainsleuth.facts import Event, Expr, Function, bindings, written

from .records import Key

if TYPE_CHECKING:
    from .truth import Truth

_HOLDS = re.compile(
    r"(?:^|_)(?:args?|opts?|cfg|conf|config\w*|hparams?|hps?|hp|flags?|params|options?|settings?|C)$", re.I
)
_WORDS: dict[str, Any] = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False, "": False, "none": None, "null": None}  # fmt: skip
_COMPARED = {"==": "__eq__", "!=": "__ne__", "is": "__eq__", "is not": "__ne__"}
_ORDERED = {"<": -1, ">": 1, "<=": -1, ">=": 1}


class UnknownValueError(Exception):
    """The value cannot be told."""


def setting_of(truth: Truth, dotted: str, path: str = "") -> Key | None:
    """The key that a dotted name reads, when what stands before its last dot holds settings."""
    words = dotted.split(".")
    key = truth.find(dotted, path) if len(words) > 1 else None
    if key is None or key.source is None:
        return None
    if any(_HOLDS.search(word) for word in words[:-1]):
        return key
    return key if "." in key.name and dotted.endswith(f".{key.name}") else None


def untaken(truth: Truth, function: Function, line: int) -> str:
    """The setting by which the branch around `line` of `function` is not taken."""
    event = _statement_at(function, line)
    for branch in event.block.branches if event is not None else ():
        if branch.kind != "if":
            continue
        for number, test in enumerate(branch.tests[: branch.arm + 1]):
            said: list[Key] = []
            if _truth(truth, function, test, said) is (number < branch.arm) and said:
                return _said(said[-1])
    return ""


def _statement_at(function: Function, line: int) -> Event | None:
    """The first statement that begins at `line`, else the last one before it."""
    exact = next((event for event in function.events if event.line == line), None)
    before = (event for event in function.events if event.line < line)
    return exact or max(before, key=lambda one: one.line, default=None)


def _said(key: Key) -> str:
    source = key.source
    where = f"{source.path}:{source.line}" if source is not None and source.path else "given command"
    return f"{key.name} = {key.value or repr('')} ({where})"


def _truth(truth: Truth, function: Function, test: Expr, said: list[Key]) -> bool | None:
    """None where it cannot be told; the keys that decided are added to `said`."""
    if test.kind == "unary" and test.text == "not":
        inner = _truth(truth, function, test.parts[0], said)
        return None if inner is None else not inner
    if test.kind == "boolean":
        decides = test.text == "or"
        truths = [_truth(truth, function, part, said) for part in test.parts]
        if decides in truths:
            return decides
        return None if None in truths else not decides
    try:
        if test.kind == "compare" and len(test.parts) == 2:
            return _compared(truth, function, test, said)
        return bool(_value(truth, function, test, said))
    except UnknownValueError:
        return None


def _compared(truth: Truth, function: Function, test: Expr, said: list[Key]) -> bool:
    left, right = (_value(truth, function, part, said) for part in test.parts)
    if test.text in _COMPARED:
        return (left == right) is (_COMPARED[test.text] == "__eq__")
    if test.text in _ORDERED and all(isinstance(one, int | float) for one in (left, right)):
        apart = (left > right) - (left < right)
        return apart == _ORDERED[test.text] or (apart == 0 and test.text.endswith("="))
    raise UnknownValueError


def _value(truth: Truth, function: Function, expr: Expr, said: list[Key]) -> Any:
    if expr.kind in ("number", "constant", "string"):
        return plain(expr.text) if expr.kind != "string" else expr.text
    if expr.kind == "call" and expr.last in _CASES and len(expr.parts) == 1 and expr.receiver is not None:
        return _in_case(_value(truth, function, expr.receiver, said), expr.last)
    if expr.kind == "path" and "." not in expr.text:
        return _of_local(truth, function, expr.text, said)
    dotted = next(_dotted(expr), "")
    key = setting_of(truth, dotted, function.path) if dotted else None
    if key is None or not all(layer.certain for layer in key.layers):
        raise UnknownValueError
    value = truth.end(key.value)
    if value in ("(required)", "???") or re.search(r"[(\[{$<]", value) or "." in value.strip("-0123456789.e+"):
        raise UnknownValueError
    said.append(key)
    return plain(value)


_CASES = ("lower", "upper", "strip")


def _in_case(value: Any, how: str) -> Any:
    if not isinstance(value, str):
        raise UnknownValueError
    return getattr(value, how)()


def _of_local(truth: Truth, function: Function, name: str, said: list[Key]) -> Any:
    """A name that always stands for a setting: kind = args.kind; kind = kind.lower()."""
    bound = bindings(function).get(name, ())
    sure = all(one.kind == "assign" and not one.items and one.value is not None for one in bound)
    if not bound or not sure or any(function.events[one.position].block.branches for one in bound):
        raise UnknownValueError
    first = bound[0].value
    if first is None or first.kind not in ("path", "index", "call") or any(part.text == name for part in first.walk()):
        raise UnknownValueError
    value = _value(truth, function, first, said)
    for one in bound[1:]:
        changed = one.value
        if changed is None or changed.last not in _CASES or changed.receiver is None or changed.receiver.text != name:
            raise UnknownValueError
        value = _in_case(value, changed.last)
    return value


def _dotted(expr: Expr) -> Iterator[str]:
    if expr.kind == "path":
        yield expr.text
    elif expr.kind == "index" and len(expr.parts) == 2 and expr.parts[1].kind == "string":
        yield f"{written(expr.parts[0])}.{expr.parts[1].text}"


def plain(text: str) -> Any:
    """A written value as what it stands for; a string stays one."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return float(text)
    except ValueError:
        return text
