"""What a checkpoint holds: the keys of the table that is handed to what saves it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from trainsleuth.facts import Expr, Function, bindings, written

from ...configuration import Truth
from ...configuration.use.untaken import untaken
from ...program import Program
from ...programs.standing import off
from .tails import Tails

MOST = 1
LEAST = 2  # keys
_SAVES = re.compile(r"(?:^|_)(?:save\w*|dump)$", re.I)
_HOLDS = re.compile(rb"save|dump")
_STATE = re.compile(
    r"(?:model|net|network|generator|actor|optim|optimizer|(?:\w+_)?state_dict|model_state)(?: \(.*)?", re.I
)
_OTHER = re.compile(r"config|args|json|yaml|metric|result|image|figure|log", re.I)


def held_state(program: Program, truth: Truth, tails: Tails) -> Iterator[tuple[str, dict[str, Any]]]:
    """Of the first that runs and keeps a state."""
    for function, line, keys in islice(_tables(program, truth), MOST):
        item = {"path": function.path, "line": line, "held": keys, "keys": []}
        yield f"a checkpoint holds {', '.join(keys)} {tails.of(function.path)}:{line}", item


def _tables(program: Program, truth: Truth) -> Iterator[tuple[Function, int, list[str]]]:
    for function in program.entry.reach.distance:
        if not function.source.holds(_HOLDS):
            continue
        for call in (call for event in function.events for call in event.calls):
            if not _SAVES.search(call.last) or _OTHER.search(call.last):
                continue
            for given in call.arguments:
                never = partial(_never, program, truth, function)
                keys = list(dict.fromkeys(_keys(function, given, never)))
                if (
                    len(keys) >= LEAST
                    and any(map(_STATE.fullmatch, keys))
                    and not off(program, truth, function, call.line)
                ):
                    yield function, call.line, keys


def _never(program: Program, truth: Truth, function: Function, line: int) -> bool:
    return bool(untaken(truth, function, line))


def _keys(function: Function, given: Expr, never: Callable[[int], bool]) -> Iterator[str]:
    """Of {...} and dict(...), of a name that is bound to one, and what is put into it later by lines that may run."""
    if given.kind == "dict":
        for key, value in (pair.parts for pair in given.parts if pair.kind == "pair" and len(pair.parts) == 2):
            inner = ", ".join(_keys(function, value, never)) if value.kind == "dict" else ""
            if key.kind == "string":
                yield f"{key.text} ({inner})" if inner else key.text
    elif given.kind == "call" and given.callee == "dict":
        yield from (part.text for part in given.parts[1:] if part.kind == "keyword")
    elif given.kind == "path" and "." not in given.text:
        tables = _tables_of(function, given.text)
        if tables and all(map(_is_table, tables)):
            yield from (key for one in tables for key in _keys(function, one, never))
            yield from _put_in(function, given.text, never)


def _tables_of(function: Function, name: str) -> list[Expr]:
    bound = [one for one in bindings(function).get(name, ()) if one.kind not in ("append", "extend")]
    return [one.value for one in bound if one.value is not None]


def _is_table(value: Expr) -> bool:
    return value.kind == "dict" or value.callee == "dict"


def _put_in(function: Function, name: str, never: Callable[[int], bool]) -> Iterator[str]:
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


def _updated(function: Function, given: Expr, never: Callable[[int], bool]) -> Iterator[str]:
    """Of a name what each table says that it is bound to; **name where none is written down."""
    tables = _tables_of(function, given.text) if given.kind == "path" else [given]
    found = [key for one in tables if _is_table(one) for key in _keys(function, one, never)]
    yield from found or [f"**{written(given, 30)}"]
