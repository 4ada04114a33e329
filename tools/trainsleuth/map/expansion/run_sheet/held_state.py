"""What a checkpoint holds: the keys of the table that is handed to what saves it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from trainsleuth.facts import Expr, Function, bindings

from ...configuration import Truth
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
                keys = list(dict.fromkeys(_keys(function, given)))
                if (
                    len(keys) >= LEAST
                    and any(map(_STATE.fullmatch, keys))
                    and not off(program, truth, function, call.line)
                ):
                    yield function, call.line, keys


def _keys(function: Function, given: Expr) -> Iterator[str]:
    """Of {...} and dict(...), of a name that is bound to one, and what is put into it later."""
    if given.kind == "dict":
        for key, value in (pair.parts for pair in given.parts if pair.kind == "pair" and len(pair.parts) == 2):
            inner = ", ".join(_keys(function, value)) if value.kind == "dict" else ""
            if key.kind == "string":
                yield f"{key.text} ({inner})" if inner else key.text
    elif given.kind == "call" and given.callee == "dict":
        yield from (part.text for part in given.parts[1:] if part.kind == "keyword")
    elif given.kind == "path" and "." not in given.text:
        bound = [one for one in bindings(function).get(given.text, ()) if one.kind not in ("append", "extend")]
        tables = [one.value for one in bound if one.value is not None]
        if tables and all(one.kind == "dict" or one.callee == "dict" for one in tables):
            yield from (key for one in tables for key in _keys(function, one))
            for target in (target for event in function.events for target in event.targets):
                if target.kind == "index" and target.parts[0].text == given.text and target.parts[-1].kind == "string":
                    yield target.parts[-1].text
