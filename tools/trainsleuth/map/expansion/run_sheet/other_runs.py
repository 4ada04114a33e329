"""Methods that a framework runs when it is asked to test or to predict, which a program that trains may never ask."""

from __future__ import annotations

import re
from functools import cached_property

from ...drawing.statements import enclosing
from ...program import Program
from ...records import Place

_HOOK = re.compile(r"(?:on_)?(test|predict)_(?:step|batch|epoch|start|end)")


class OtherRuns:
    """Of one program."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def holds(self, place: Place) -> bool:
        """It stands in such a method, and the file of the entry does not ask for it."""
        file = self._program.index.files.get(place.path)
        function = enclosing(file, place.line) if file is not None else None
        match = _HOOK.match(function.name) if function is not None else None
        if match is None or function is None:
            return False
        owner = self._program.index.class_of(function)
        return owner in self._program.training.hooked_classes and match[1] not in self._asked

    @cached_property
    def _asked(self) -> frozenset[str]:
        """Names of the calls in the file of the entry: fit, test."""
        file = self._program.index.files.get(self._program.entry.path)
        functions = file.functions.values() if file is not None else ()
        return frozenset(call.last for one in functions for event in one.events for call in event.calls)
