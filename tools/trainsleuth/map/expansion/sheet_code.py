"""Statements for the sheet of a run: the one that runs, how often, under which condition, with its settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from ..configuration import Truth
from ..parts import Anatomy, source_lines
from ..program import Program
from ..records import Place
from ..standing import off_at
from ..statements import conditions, enclosing, event_at, statement
from ..wording import clean
from .pace import pace
from .tails import Tails
from .topics import Topic
from .values import values_in

MAX_PLACES = 3  # of a topic
MAX_VALUES = 2  # of a statement
WIDTH = 104
WHEN_WIDTH = 70
_PACED = ("scheduler step", "learning rate", "save", "save defined", "call", "loop", "averaged weights", "tracked")


class Code:
    """Of one program; no statement is given twice."""

    def __init__(self, program: Program, truth: Truth, anatomy: Anatomy, tails: Tails) -> None:
        self.program, self.truth, self.anatomy, self.tails = program, truth, anatomy, tails
        self._shown: set[tuple[str, int]] = set()

    def lines(self, topic: Topic, told: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """The first place that runs of each role of the topic. `told` are keys whose values are said beside it."""
        count = 0
        for part, role in topic.places:
            held = (self.anatomy.parts if part in self.anatomy.parts else self.anatomy.features)[part]
            for place in self._first_of(held.places, role):
                if (place.path, place.line) not in self._shown and count < MAX_PLACES:
                    self._shown.add((place.path, place.line))
                    count += 1
                    yield self._line(place, told)
            if not held.places and held.why.startswith(("off", "set")):
                yield clean(held.why, WIDTH), {"feature": part}

    def _first_of(self, places: Sequence[Place], role: str) -> list[Place]:
        """The best that runs; of loops two, that over epochs first."""
        running = (place for place in places if role in ("", place.role) and self._runs(place))
        best = list(islice(running, 2 if role == "loop" else 1))
        return sorted(best, key=lambda one: "epoch" not in one.text)

    def _runs(self, place: Place) -> bool:
        file = self.program.index.files.get(place.path)
        if file is None or place.cell is not None:
            return False
        return self.program.is_reached(enclosing(file, place.line)) and not off_at(self.program, self.truth, place)

    def _line(self, place: Place, told: Sequence[str]) -> tuple[str, dict[str, Any]]:
        program = self.program
        function = enclosing(program.index.files[place.path], place.line)
        found = event_at(function, place.line)
        text = statement(source_lines(program.index, place.path), place.line, width=WIDTH)
        said = [f"{self.tails.of(place.path)}:{place.line} {text}"]
        if place.role in _PACED and (often := pace(program, function, place.line)) and place.role != "loop":
            said.append(f"each {often}")
        if found is not None and (when := conditions(found[1])):
            said.append(f"when {clean(when, WHEN_WIDTH)}")
        known = list(values_in(program, self.truth, function, found[1], place.line)) if found is not None else []
        last = {key.rpartition(".")[2] for key in told}
        known = [(name, value) for name, value in known if name.rpartition(".")[2] not in last][:MAX_VALUES]
        said += [f"{name.rpartition('.')[2]}: {value}" for name, value in known]
        return " · ".join(said), {**place.to_dict(), "text": text, "values": dict(known)}
