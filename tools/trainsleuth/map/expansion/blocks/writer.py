"""Places as blocks: the whole statement or body, its function, its condition and its values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainsleuth.facts import MODULE_BODY, Event, Function
from trainsleuth.repository import is_source

from ...configuration import Truth
from ...configuration.use.untaken import untaken
from ...drawing.statements import MAX_LINES, WIDTH, conditions, enclosing, event_at, is_class_body, statement
from ...drawing.wording import clean
from ...parts import source_lines
from ...program import Program
from ...programs.standing import off
from ...records import Place
from ..settings.values import values_in
from .bodies import body_of
from .contents import file_named, held_in
from .headings import heading
from .inner_loss import made_for
from .naming import jump_after, naming_lines
from .writing import Block

TINY = 9  # lines of a function of which one statement is not shown alone
SHORT = 12  # lines of code of a function that is shown as a whole
LONG = 80  # lines of code of a function that is opened where there is room
MAX_MADE = 6  # statements that make what a loss is given
LIST_WIDTH = 640  # characters of a statement that lists what is done one after the other
_LISTS = re.compile(r"Compose\(|Sequential\(|transforms?\s*=\s*\[")
WHOLE = 44  # lines of a function that a reader wants to see whole
WHY_WIDTH = 420  # characters of a statement that gives a condition its name


_WHOLE = {  # functions of which a reader asks for the order or the arithmetic, by part
    "checkpointing": re.compile(r"^_?(?:\w*_)?(?:save|dump|write)(?:_\w*|$)|^\w*(?:save|checkpoint)\w*$", re.I),
    "loss": re.compile(r"loss", re.I),
    "evaluation": re.compile(r"valid|^_?eval|^cv$|^_?test(?:_|$)|^val(?:_|$)", re.I),
    "optimizer_scheduler": re.compile(r"schedul|(?:^|_)lr(?:_|$)|lambda|warm|anneal|param_groups|no_decay", re.I),
}


def _is_asked_whole(name: str, place: Place, function: Function) -> bool:
    words = _WHOLE.get(name)
    said = function.qualname if name == "optimizer_scheduler" and function.name != "__init__" else function.name
    if words is None or words.search(said) is None:
        return False
    return name != "checkpointing" or place.role == "save" or place.line == function.line


class Writer(NamedTuple):
    """Turns places into blocks; `told` are values and conditions that need not be said again."""

    program: Program
    truth: Truth
    texts: dict[str, list[str]]
    told: set[tuple[str, str]]

    def joined(self, place: Place) -> Place:
        """A place in a cell of a notebook with its line among all cells."""
        file = self.program.index.files.get(place.path)
        if place.cell is None or file is None:
            return place
        first = next((first for first, number in file.cells if number == place.cell), 1)
        return place._replace(line=first + place.line - 1)

    def block(self, place: Place, name: str = "") -> tuple[Block, Function | None]:
        """The block of a place, and the function that it shows as a whole, if any."""
        if place.path not in self.texts:
            self.texts[place.path] = source_lines(self.program.index, place.path)
        lines = self.texts[place.path]
        file = self.program.index.files.get(place.path)
        if file is None or not is_source(place.path):
            text = statement(lines, place.line, 1)
            item = {**place.to_dict(), "text": text}
            return Block((f" {place.path}",), (place.line,), (f"  {place.line} {text}",), item), None
        function = enclosing(file, place.line)
        most = WHOLE if _is_asked_whole(name, place, function) else TINY
        short = 0 < function.end_line - function.line <= most and not is_class_body(file, function)
        if function.name != MODULE_BODY and (place.line == function.line or short):
            limit = WHOLE if most == WHOLE else SHORT
            return self._definition(place, function, lines, is_class_body(file, function), limit)
        return self._statement(place, function, lines, name), None

    def body(self, place: Place, limit: int = LONG) -> Block:
        """A function as a whole where it fits, else how long it is."""
        if place.path not in self.texts:
            self.texts[place.path] = source_lines(self.program.index, place.path)
        function = enclosing(self.program.index.files[place.path], place.line)
        lines = self.texts[place.path]
        place = place._replace(text=lines[place.line - 1].strip())
        return self._definition(place, function, lines, False, limit)[0]

    def _statement(self, place: Place, function: Function, lines: list[str], name: str) -> Block:
        found = event_at(function, place.line)
        near = found is not None and place.line - found[1].line < MAX_LINES
        first = found[1].line if found is not None and near else place.line
        event = found[1] if found is not None and near else None
        idle = off(self.program, self.truth, function, first)
        known = tuple(self._values(function, event, place.line)) if event is not None and not idle else ()
        when = conditions(event) if event is not None else ""
        text = statement(lines, first, width=LIST_WIDTH if _LISTS.search(lines[first - 1]) else WIDTH)
        shown = [f"   {self._where(place, first)} {text}"]
        if idle:
            shown.append(f"     off: {idle}")
        elif when and event is not None:
            shown += self._when(function, event, when, lines)
        if known:
            shown.append("     " + " · ".join(f"{name}: {value}" for name, value in known))
        if name == "loss" and event is not None and not idle and (made := made_for(function, event)):
            shown += [f"     where {one}" for one in made.split("; ") if self._is_new(function, one)][:MAX_MADE]
        if event is not None and (jump := jump_after(function, event)):
            shown.append(f"     then {jump}")
        if name == "checkpointing" and event is not None:
            naming = [one for one in dict.fromkeys(file_named(function, event)) if self._is_new(function, str(one))]
            shown += [f"     where {one} {statement(lines, one, width=WHY_WIDTH)}" for one in naming[:MAX_MADE]]
        holds = held_in(self.program, function, event) if event is not None else ""
        if holds and self._is_new(function, holds):
            shown.append(f"     holds {holds}")
        item = {**self._item(place, first, text), "function": function.qualname, "when": when, "values": dict(known)}
        if idle:
            item["off"] = idle
        return Block(self.headings(place, function), (first,), tuple(shown), item)

    def _when(self, function: Function, event: Event, when: str, lines: list[str]) -> Iterator[str]:
        """The condition, and the statements that give its names their values, unless they were shown."""
        if (function.qualname, when) in self.told:
            return
        self.told.add((function.qualname, when))
        yield f"     when {when}"
        for line in naming_lines(function, event):
            if (function.qualname, str(line)) not in self.told:
                self.told.add((function.qualname, str(line)))
                made = event_at(function, line)
                known = self._values(function, made[1], line) if made is not None else ()
                values = " · ".join(f"{name}: {value}" for name, value in known)
                yield f"       {line} {statement(lines, line, width=WHY_WIDTH)}"
                if values:
                    yield f"         {values}"

    def _is_new(self, function: Function, said: str) -> bool:
        """It was not said before; now it is."""
        mark = (function.qualname, said)
        if mark in self.told:
            return False
        self.told.add(mark)
        return True

    def _values(self, function: Function, event: Event, line: int) -> Iterator[tuple[str, str]]:
        for name, value in values_in(self.program, self.truth, function, event, line):
            if (name, value) not in self.told:
                self.told.add((name, value))
                yield name, value

    def _definition(
        self, place: Place, function: Function, lines: list[str], is_class: bool, limit: int
    ) -> tuple[Block, Function | None]:
        """A function that is short as a whole; of a long one, or a class, how long it is."""
        begins = {event.line for event in function.events}
        body = body_of(function, lines, lambda line: untaken(self.truth, function, line) if line in begins else "")
        item = {**self._item(place, place.line, place.text), "function": function.qualname, "lines": len(body)}
        if idle := off(self.program, self.truth, function, function.line):
            item["off"] = idle
        plain = function.name == MODULE_BODY or is_class
        headings = (f" {place.path}",) if plain else self.headings(place, function)
        if not body or len(body) > limit or is_class:
            where = self._where(place, function.line)
            first = f"   {where}-{function.end_line} {place.text}"
            opens = not is_class and place.cell is None and 0 < len(body) <= LONG and "off" not in item
            opened = (first, *(f"   | {line}" for line in body)) if opens else ()
            span = (function.path, function.line, function.end_line) if opens else None
            return Block(headings, (place.line,), (first,), item, span, opened), None
        known = tuple(self._values_inside(function))
        item["values"] = dict(known)
        shown = [f"   | {line}" for line in body]
        shut = (f"   {self._where(place, function.line)}-{function.end_line} {place.text}",)
        span = (function.path, function.line, function.end_line) if place.cell is None else None
        if known:
            shown.append("     " + " · ".join(f"{name}: {value}" for name, value in known))
        return Block(headings, (place.line,), tuple(shown), item, span, shut=shut), function

    def _values_inside(self, function: Function) -> Iterator[tuple[str, str]]:
        """Of a function that is shown as a whole."""
        for event in function.events:
            yield from self._values(function, event, event.line)

    def headings(self, place: Place, function: Function) -> tuple[str, ...]:
        above = heading(self.program, self.truth, function)
        return (f" {place.path}", above) if above else (f" {place.path}",)

    def _where(self, place: Place, line: int) -> str:
        file = self.program.index.files.get(place.path)
        cell = file.cell(line) if file is not None and place.cell is not None else None
        return f"cell {cell[0]}:{cell[1]}" if cell is not None else str(line)

    def _item(self, place: Place, line: int, text: str) -> dict[str, object]:
        file = self.program.index.files.get(place.path)
        cell = file.cell(line) if file is not None and place.cell is not None else None
        plain = {**place.to_dict(), "line": line if cell is None else cell[1], "text": clean(text, 230)}
        return plain if cell is None else {**plain, "cell": cell[0]}
