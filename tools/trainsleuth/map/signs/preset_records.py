"""Settings that are kept as a list of named tables, of which code picks one: Config.from_name("small-4k")."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Expr, Function

from ..configuration.forms.literals import is_table
from ..naming.only_values import held_by_variable
from ..program import Program
from ..records import Place

_PICKS = re.compile(r"(?:from|by)_name$|^get_(?:config|preset|recipe)\w*$|(?:config|preset)_by_name$")


def preset_records(program: Program) -> Iterator[Place]:
    """Where the table stands whose name a reached call asks for, in the file of what it calls."""
    for called in program.reached_calls:
        asked = called.call.arguments[0] if _PICKS.search(called.call.last) and called.call.arguments else None
        name = _text(program, called.function, asked) if asked is not None else ""
        for target in called.targets if name else ():
            if isinstance(target, Function):
                for line in _named(program, target.path, name):
                    yield Place(target.path, line, "record", 0.85)


def _text(program: Program, function: Function, asked: Expr) -> str:
    """Of a string, or of a constant of a module."""
    if asked.kind == "string":
        return asked.text
    held = held_by_variable(program.index, function, asked)
    return held[1].text if held is not None and held[1].kind == "string" else ""


def _named(program: Program, path: str, name: str) -> Iterator[int]:
    for event in program.index.files[path].body.events:
        for part in event.value.walk() if event.value is not None else ():
            if is_table(part):
                for item in part.parts:
                    key = item.parts[0].text if item.kind == "pair" else item.text
                    if item.kind in ("pair", "keyword") and key == "name" and item.parts[-1].text == name:
                        yield item.line
