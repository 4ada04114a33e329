"""One function from end to end, what is near the asked line first: each line with its number and its values."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from trainsleuth.facts import FileFacts, Function

from ..configuration import Truth
from ..configuration.untaken import untaken
from ..parts import source_lines
from ..program import Program
from ..statements import enclosing, event_at, is_class_body
from .bodies import numbered_body
from .headings import heading
from .values import values_in
from .writing import Block

MAX_OTHERS = 4  # definitions of the same name that are named


def blocks(program: Program, truth: Truth, where: str) -> Iterator[Block]:
    """One block for each line; `where` is PATH:LINE, or the name of a function or a class."""
    found = list(_functions(program, where))
    if not found:
        yield Block((), (0,), (f"  no definition and no line {where} in the files that were read",), {"missing": where})
        return
    first, *others = found
    for function, line in _inside(program, *first):
        yield from _lines(program, truth, function, line)
    if others:
        named = [f"{one.path}:{at} {one.qualname.removesuffix('.<class>')}" for one, at in others[:MAX_OTHERS]]
        more = f", +{len(others) - MAX_OTHERS} more" if len(others) > MAX_OTHERS else ""
        yield Block(("# of the same name",), (0,), (f"  {', '.join(named)}{more}",), {"others": named})


def _inside(program: Program, function: Function, line: int) -> list[tuple[Function, int]]:
    """Of a class its methods, those that do the work first."""
    file = program.index.files[function.path]
    if not is_class_body(file, function) or line != function.line:
        return [(function, line)]
    methods = file.classes[function.qualname.removesuffix(".<class>")].methods.values()
    return [(one, one.line) for one in sorted(methods, key=lambda one: (_ORDER.get(one.name, 1), one.line))]


_ORDER = {"forward": 0, "__call__": 0, "__init__": 2}


def _lines(program: Program, truth: Truth, function: Function, asked: int) -> Iterator[Block]:
    """What a setting keeps from running behind all that runs."""
    text = source_lines(program.index, function.path)
    begins = {event.line for event in function.events}
    runs = numbered_body(function, text, lambda line: untaken(truth, function, line) if line in begins else "")
    every = numbered_body(function, text, lambda line: "")
    rest = [one for one in every if one not in runs]
    told: set[tuple[str, str]] = set()
    for idle, lines in enumerate((runs, rest)):
        for number, code in sorted(lines, key=lambda one: (_apart(one[0], asked), one[0])):
            if code.strip(" )]},:"):
                yield _line(program, truth, function, number, code, idle, told)


def _apart(line: int, asked: int) -> int:
    """What follows a line says more of it than what stands above."""
    return line - asked if line >= asked else 2 * (asked - line)


def _line(
    program: Program, truth: Truth, function: Function, number: int, code: str, idle: int, told: set[tuple[str, str]]
) -> Block:
    above = heading(program, truth, function)
    headings = (f" {function.path}", above) if above else (f" {function.path}",)
    found = event_at(function, number)
    exact = found is not None and found[1].line == number
    values = values_in(program, truth, function, found[1], number) if found is not None and exact else ()
    new = [one for one in values if one not in told]
    told.update(new)
    said = (f"       {' · '.join(f'{name}: {value}' for name, value in new)}",) if new else ()
    item = {"path": function.path, "line": number, "function": function.qualname, "text": code, "values": dict(new)}
    return Block(headings, (number, idle), (f"   {number} {code}", *said), item)


def _functions(program: Program, where: str) -> Iterator[tuple[Function, int]]:
    """Functions with the line that is asked for, those that the program reaches first."""
    path, _, line = where.rpartition(":")
    if path and line.isdigit():
        loaded = program.entry.reach.files
        fits = (one for one in program.index.files if one == path or one.endswith(f"/{path}"))
        for one in sorted(fits, key=lambda one: (one != path, one not in loaded, one)):
            yield enclosing(program.index.files[one], int(line)), int(line)
        return
    every = [found for file in program.index.files.values() for found in _named(file, where)]
    near = partial(_distance, program)
    yield from ((one, one.line) for one in sorted(dict.fromkeys(every), key=near))


def _distance(program: Program, function: Function) -> tuple[float, str, int]:
    return (-program.weight(function), function.path, function.line)


def _named(file: FileFacts, name: str) -> Iterator[Function]:
    for function in file.functions.values():
        said = function.qualname.removesuffix(".<class>")
        if said == name or said.endswith(f".{name}"):
            yield function
