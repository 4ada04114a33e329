"""How a launcher comes from a name in the recipe to the program: the look-up of the name, and what starts the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainsleuth.facts import Event, Expr, Function

from ..calling.reach import Reach
from .named_programs import Named

_STARTED = re.compile(r"(?:training_)?script(?:_path|_args)?$")
MAX_STEPS = 4  # statements of one launcher that are told


class Start(NamedTuple):
    """`launcher` is the file that is started first; `named` the setting that chooses the program."""

    launcher: str
    named: Named
    steps: tuple[tuple[Function, Event], ...]


def start_of(launcher: str, reached: Reach, named: Named) -> Start:
    """The statements that look the name up, and those that hand its file to what starts processes."""
    key = named.setting.key.partition(".")[0]
    return Start(launcher, named, (*_looks_up(reached, key), *_starts(reached)))


def _looks_up(reached: Reach, key: str) -> Iterator[tuple[Function, Event]]:
    """The first call of something that is given what the key is worth: target = resolve(raw)."""
    for function in reached.distance:
        held: set[str] = set()
        for event in (
            function.events if function.source.holds(re.compile(rb"[\"'.]%s\b" % re.escape(key.encode()))) else ()
        ):
            if event.kind != "assign" or event.value is None:
                continue
            given = [one for call in event.calls for one in call.arguments]
            if held and any(one.kind == "path" and one.text in held for one in given):
                yield function, event
                return
            if _asks(event.value, key) or any(part.text.partition(".")[0] in held for part in _paths(event.value)):
                held.update(target.text for target in event.targets if target.kind == "path")


def _asks(value: Expr, key: str) -> bool:
    return any(
        (part.kind == "string" and part.text == key) or (part.kind == "path" and part.text.endswith(f".{key}"))
        for part in value.walk()
    )


def _paths(value: Expr) -> Iterator[Expr]:
    return (part for part in value.walk() if part.kind == "path")


def _starts(reached: Reach) -> Iterator[tuple[Function, Event]]:
    """Statements that set the script of a runner: args.training_script = path."""
    for function in reached.distance:
        found = [
            (function, event)
            for event in function.events
            if event.kind == "assign" and any("." in one.text and _STARTED.match(one.last) for one in event.targets)
        ]
        if found:
            yield from found[:MAX_STEPS]
            return
