"""Variables that a launch script exports and that the program reads: export RUN_CONFIG=configs/small.yaml."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from trainsleuth.facts import Expr, Function, Index

from .launch import SHELL, Command
from .shell_scripts import lines_of
from .shell_variables import assignments, filled, known_before

_READS = re.compile(rb"\benviron\b|\bgetenv\b")
MAX_READERS = 60  # functions


class Exported(NamedTuple):
    """A value with the line of the script that gives it."""

    name: str
    value: str
    path: str
    line: int


def exported(index: Index, functions: Iterable[Function], command: Command) -> Iterator[Exported]:
    """What the command's own script assigns above it, as far as these functions read it from the environment."""
    path = command.script or (command.path if command.path.endswith(SHELL) else "")
    if not path:
        return
    lines = lines_of(index.repository, path)
    given = list(assignments(lines[: command.line - 1]))
    asked = names_read(functions) if given else frozenset()
    for one in given:
        if one.name in asked and one.value:
            value = filled(one.value, known_before(lines, one.first, command.arguments))
            yield Exported(one.name, value, path, one.first)


def names_read(functions: Iterable[Function]) -> frozenset[str]:
    """Names of the variables that functions read: os.environ["A"], os.environ.get("B"), os.getenv("C")."""
    readers = [function for function in functions if function.source.holds(_READS)][:MAX_READERS]
    return frozenset(name for function in readers for name in _names(function))


def _names(function: Function) -> Iterator[str]:
    for event in function.events:
        for call in event.calls:
            of_environment = (
                call.receiver is not None and call.receiver.last == "environ" and call.last in ("get", "pop")
            )
            if (of_environment or call.last == "getenv") and call.arguments and call.arguments[0].kind == "string":
                yield call.arguments[0].text
        for part in event.value.walk() if event.value is not None else ():
            if _is_item(part):
                yield part.parts[1].text


def _is_item(part: Expr) -> bool:
    return (
        part.kind == "index"
        and len(part.parts) == 2
        and part.parts[0].last == "environ"
        and part.parts[1].kind == "string"
    )
