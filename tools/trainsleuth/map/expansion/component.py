"""Everything about one component: each place with its whole statement, its function, its callers and its values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainsleuth.facts import MODULE_BODY, Event, Function

from ..configuration import Truth
from ..layout import ranked
from ..parts import source_lines
from ..program import Program
from ..records import Part, Place
from ..statements import MAX_LINES, conditions, enclosing, event_at, statement
from ..wording import clean
from .values import values_in
from .writing import Block

MAX_CALLERS = 3
MAX_PLACES = 160
TINY = 9  # lines of a function of which one statement is not shown alone
SHORT = 22  # lines of a function that is shown as a whole


def blocks(program: Program, truth: Truth, part: Part, name: str) -> Iterator[Block]:
    """One block for each statement, best first."""
    writer = _Writer(program, truth, {}, set())
    seen: set[tuple[str, int]] = set()
    whole: list[tuple[str, int, int]] = []  # functions that were shown from end to end
    for place in ranked(part.places[:MAX_PLACES], name):
        if any(path == place.path and first < place.line <= last for path, first, last in whole):
            continue
        block, function = writer.block(place)
        mark = (place.path, block.order[0])
        if function is not None:
            whole.append((function.path, function.line, function.end_line))
        if mark not in seen:
            seen.add(mark)
            yield block


class _Writer(NamedTuple):
    """Turns places into blocks; `told` are values that need not be said again."""

    program: Program
    truth: Truth
    texts: dict[str, list[str]]
    told: set[tuple[str, str]]

    def block(self, place: Place) -> tuple[Block, Function | None]:
        """The block of a place, and the function that it shows as a whole, if any."""
        if place.path not in self.texts:
            self.texts[place.path] = source_lines(self.program.index, place.path)
        lines = self.texts[place.path]
        file = self.program.index.files.get(place.path)
        if file is None or not place.path.endswith((".py", ".ipynb")):
            text = statement(lines, place.line, 1)
            item = _item(place, place.line, text)
            return Block((f" {place.path}",), (place.line,), (f"  {place.line} {text}",), item), None
        function = enclosing(file, place.line)
        short = 0 < function.end_line - function.line <= TINY and not function.qualname.endswith(".<class>")
        if function.name != MODULE_BODY and (place.line == function.line or short):
            return _definition(self.program, place, function, lines)
        return self._statement(place, function, lines), None

    def _statement(self, place: Place, function: Function, lines: list[str]) -> Block:
        found = event_at(function, place.line)
        near = found is not None and place.line - found[1].line < MAX_LINES
        first = found[1].line if found is not None and near else place.line
        event = found[1] if found is not None and near else None
        known = tuple(self._values(function, event, place.line)) if event is not None else ()
        when = conditions(event) if event is not None else ""
        text = statement(lines, first)
        shown = [f"   {first} {text}", *([f"     when {when}"] if when else [])]
        shown += [f"     {name}: {value}" for name, value in known]
        heading = _heading(self.program, function)
        item = {**_item(place, first, text), "function": function.qualname, "when": when, "values": dict(known)}
        headings = (f" {place.path}", heading) if heading else (f" {place.path}",)
        return Block(headings, (first,), tuple(shown), item)

    def _values(self, function: Function, event: Event, line: int) -> Iterator[tuple[str, str]]:
        for name, value in values_in(self.program, self.truth, function, event, line):
            if (name, value) not in self.told:
                self.told.add((name, value))
                yield name, value


def _definition(program: Program, place: Place, function: Function, lines: list[str]) -> tuple[Block, Function | None]:
    """A function that is short as a whole; of a long one, or a class, how long it is."""
    body = [line for line in lines[function.line - 1 : function.end_line] if line.strip()]
    heading = _heading(program, function)
    item = {**_item(place, place.line, place.text), "function": function.qualname, "lines": len(body)}
    headings = (f" {place.path}", heading or f"  :{function.line}")
    if len(body) > SHORT or function.qualname.endswith(".<class>"):
        return Block(headings, (place.line,), (f"   {function.line}-{function.end_line} {place.text}",), item), None
    edge = min(len(line) - len(line.lstrip()) for line in body)
    shown = tuple(f"   | {clean_line(line[edge:])}" for line in body[1:])
    return Block(headings, (place.line,), shown, item), function


def clean_line(line: str) -> str:
    """A line of source that keeps its indentation."""
    text = line.lstrip()
    return " " * (len(line) - len(text)) + clean(text, 120)


def _item(place: Place, line: int, text: str) -> dict[str, object]:
    plain = {**place.to_dict(), "line": line, "text": text}
    return plain if place.cell is None else {**plain, "cell": place.cell}


def _heading(program: Program, function: Function) -> str:
    """ "  in build(cfg) :12, called at train.py:30" """
    if function.name == MODULE_BODY:
        return ""
    names = ", ".join(one.kind + one.name for one in function.parameters[:6])
    more = ", …" if len(function.parameters) > 6 else ""
    said = function.qualname.removesuffix(".<class>")
    if function.qualname == f"{function.name}.<class>" or (not function.parameters and function.name[:1].isupper()):
        return f"  class {said} :{function.line}"
    calls = dict.fromkeys(f"{caller.path}:{line}" for caller, line in program.callers(function))
    where = ", called at " + ", ".join(list(calls)[:MAX_CALLERS]) if calls else ""
    return f"  in {said}({names}{more}) :{function.line}{where}"
