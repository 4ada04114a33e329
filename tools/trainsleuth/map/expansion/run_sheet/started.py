"""How a launcher comes to the program: the name in the recipe, where it is looked up, and what starts the file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...drawing.statements import statement
from ...drawing.wording import clean
from ...program import Program
from .tails import Tails

WIDTH = 90  # characters of a statement
WHOLE = 460


def started(program: Program, tails: Tails) -> Iterator[tuple[str, dict[str, Any]]]:
    """ "app.py, by recipe=Finetune C:6: class Finetune train.py:30 · app.py:12 target = resolve(name) ·..." """
    if program.start is None:
        return
    launcher, (setting, cls), steps = program.start
    said = [
        f"by {tails.of(launcher)}: {setting.key}={clean(setting.value, WIDTH)} {tails.of(setting.path)}:{setting.line}"
        f" is the class {tails.of(cls.path)}:{cls.line}, in the file that runs"
    ]
    for function, event in steps:
        lines = (program.index.repository.read(function.path) or "").split("\n")
        said.append(f"{tails.of(function.path)}:{event.line} {statement(lines, event.line, width=WIDTH)}")
    places = [{"path": function.path, "line": event.line} for function, event in steps]
    yield clean(" · ".join(said), WHOLE), {"launcher": launcher, "steps": places, "keys": []}
