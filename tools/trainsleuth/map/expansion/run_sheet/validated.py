"""The names under which validation tells how well it does: self.log("val_mAP", score) in on_validation_epoch_end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainsleuth.facts import Expr, Function

from ...configuration import Truth
from ...program import Program
from ...programs.standing import off
from .tails import Tails

MOST = 8
_IN = re.compile(r"_?(?:on_)?(?:val|valid|validation|validate|eval|evaluate|evaluation)(?:_|$)", re.I)
_TELLS = ("log", "add_scalar", "log_metric", "log_scalar")


def validated(program: Program, truth: Truth, tails: Tails) -> Iterator[tuple[str, dict[str, Any]]]:
    """In one line, each name once, by the first statement that tells it."""
    found: dict[str, tuple[str, int]] = {}
    for function, _ in program.functions():
        if _IN.match(function.name):
            for name, line in _told(function):
                if name not in found and not off(program, truth, function, line):
                    found[name] = (function.path, line)
    said, before = [], ""
    for name, (path, line) in list(found.items())[:MOST]:
        said.append(f"{name} :{line}" if path == before else f"{name} {tails.of(path)}:{line}")
        before = path
    if said:
        yield f"told as {', '.join(said)}", {"metrics": list(found), "keys": []}


def _told(function: Function) -> Iterator[tuple[str, int]]:
    for event in function.events:
        for call in event.calls:
            name = _name(call)
            if name is not None:
                yield name.text, name.line


def _name(call: Expr) -> Expr | None:
    if call.last not in _TELLS or len(call.arguments) < 2:
        return None
    return call.arguments[0] if call.arguments[0].kind == "string" else None
