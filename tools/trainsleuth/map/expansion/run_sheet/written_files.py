"""Files that a run writes its weights into: names in code that saves, with the place and the condition."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainsleuth.facts import Event, Expr, Function, written

from ...configuration import Truth
from ...drawing.statements import conditions
from ...drawing.wording import clean
from ...parts import source_lines
from ...program import Program
from ...programs.standing import off
from ..settings.values import value_of
from .pace import pace
from .under import defined_under

_ENDS = r"\.(?:pth(?:\.tar)?|pt|ckpt|safetensors|tar|bin)"
_NAME = re.compile(
    rf"[^\s\"'/]+{_ENDS}(?:\.[\w{{}}.]+)?$|[^\s\"'/]*(?:checkpoint|ckpt|epoch|step)[-_]?\{{[^\s\"']*", re.I
)
_FORMAT = re.compile(r"""\bf(["'])((?:(?!\1).)+)\1""")
_VALUE = re.compile(rf"^([\w.-]+{_ENDS}) \(")  # a setting that names a file
_ENDING = re.compile(rf"({_ENDS}) \(")  # 'last' + self.extension
_NAMES_FILE = ("filename", "filename_format", "filename_pattern")
_HOLDS = re.compile(rf"{_ENDS}|filename|(?:checkpoint|ckpt|epoch|step)[-_]?\{{|save|checkpoint".encode(), re.I)
_SAVES = re.compile(r"save|checkpoint|ckpt|dump|write|snapshot", re.I)
_LOADS = re.compile(r"load|resume|restore|download|convert|pretrained|export|infer|find|latest|__init__|from_", re.I)
_READS = re.compile(r"load|exists|isfile|is_file|download|endswith|glob|add_argument|listdir|replace|print|info|warn|remove|hub", re.I)  # fmt: skip
_BRINGS = re.compile(r"load|restore|resume", re.I)
MOST = 6
WHEN_WIDTH = 46


class Written(NamedTuple):
    """`name` as it stands in the code, with its braces."""

    name: str
    path: str
    line: int
    when: str


def written_files(program: Program, truth: Truth) -> list[Written]:
    """Each name once, in the order of the functions from the entry on."""
    found: dict[str, Written] = {}
    for function in program.entry.reach.distance:
        if not _LOADS.search(function.name) and function.source.holds(_HOLDS):
            for one in _inside(program, truth, function):
                found.setdefault(one.name, one)
    return list(found.values())[:MOST]


def _inside(program: Program, truth: Truth, function: Function) -> Iterator[Written]:
    says = _SAVES.search(function.qualname) is not None
    for event in function.events:
        called = " ".join([*(call.callee for call in event.calls), *(written(target) for target in event.targets)])
        if _READS.search(called) or not (says or _SAVES.search(called)):
            continue
        names = [
            name for expr in (event.value, *event.calls) if expr for name in _names(program, truth, function, expr)
        ]
        if not names or _is_read_back(function, event) or off(program, truth, function, event.line):
            continue
        for name in dict.fromkeys(names):
            yield Written(name, function.path, event.line, _when(program, truth, function, event))


def _is_read_back(function: Function, event: Event) -> bool:
    """The name that it makes goes into a call that loads, and into none that saves: the file of a run before."""
    made = {target.text for target in event.targets if target.kind == "path" and "." not in target.text}
    uses = [
        call.last
        for later in (function.events if made else ())
        for call in later.calls
        if any(part.kind == "path" and part.text in made for given in call.arguments for part in given.walk())
    ]
    return any(_BRINGS.search(last) for last in uses) and not any(_SAVES.search(last) for last in uses)


def _names(program: Program, truth: Truth, function: Function, expr: Expr) -> Iterator[str]:
    for part in expr.walk():
        if part.kind == "format":  # its text is not in the facts
            line = source_lines(program.index, function.path)[part.line - 1]
            yield from (match[2] for match in _FORMAT.finditer(line) if _NAME.search(match[2]))
        elif part.kind == "string":
            yield from (match[0] for match in _NAME.finditer(part.text))
        elif part.kind == "binary" and part.text == "+" and part.parts[0].kind == "string":
            ending = _ENDING.match(value_of(program, truth, function, part.parts[1].text))
            if ending and _NAME.fullmatch(name := part.parts[0].text + ending[1]):
                yield name
        elif part.kind == "keyword" and part.text in _NAMES_FILE and "{" in part.parts[0].text:
            yield part.parts[0].text
        elif part.kind == "keyword" and part.parts and part.parts[0].kind == "path":
            if match := _VALUE.match(value_of(program, truth, function, part.parts[0].text)):
                yield match[1]
            elif (key := truth.find(part.parts[0].text)) is not None and _NAME.fullmatch(key.value):
                yield key.value


def _when(program: Program, truth: Truth, function: Function, event: Event) -> str:
    often = pace(program, function, event.line)
    when = " and ".join(filter(None, (defined_under(program, truth, function), conditions(event))))
    return " ".join([*([f"each {often}"] if often else []), *([f"when {clean(when, WHEN_WIDTH)}"] if when else [])])
