"""What a checkpoint holds: the keys of the table that is handed to what saves it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any

from trainsleuth.facts import Function

from ...configuration import Truth
from ...configuration.use.untaken import untaken
from ...program import Program
from ...programs.standing import off
from ..saved_keys import keys_of
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
                keys = list(dict.fromkeys(keys_of(function, given, never)))
                if (
                    len(keys) >= LEAST
                    and any(map(_STATE.fullmatch, keys))
                    and not off(program, truth, function, call.line)
                ):
                    yield function, call.line, keys


def _never(program: Program, truth: Truth, function: Function, line: int) -> bool:
    return bool(untaken(truth, function, line))
