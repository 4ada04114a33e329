"""Launch scripts that are written in Python: os.system("python train.py --config a.yaml")."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from trainsleuth.facts import Expr, FileFacts, Function, Index
from trainsleuth.facts.reading.scopes import bindings

_STARTS = re.compile(rb"os\.system\("), re.compile(rb"subprocess\.(?:run|call|check_call|Popen)\(")
_HOLE = re.compile(r"\{\w*\}")
MAX_LINES = 80  # of a file that does nothing but start another
MAX_TEXT = 4000  # characters of a command


def launch_lines(index: Index) -> Iterator[tuple[str, int, str]]:
    """(path, line, text) of the commands in short Python files that define nothing and start a program."""
    for file in index.files_holding(*_STARTS):
        body = file.body
        if _only_starts(file):
            known = dict(_constants(body))
            for event in body.events:
                if any(_holds_template(call) for call in event.calls):
                    yield from ((body.path, event.line, text) for text in _written(index, body, event.line, known))
                for text, line in _texts(event.value, known) if event.value is not None else ():
                    if " " in text.strip() and len(text) <= MAX_TEXT:
                        yield body.path, line, text


def _holds_template(call: Expr) -> bool:
    """os.system(f"python train.py --rank {args.rank}"), whose text is not among the facts."""
    return call.last in _STARTERS and any(part.kind == "format" for one in call.arguments for part in one.walk())


_STARTERS = ("system", "run", "call", "check_call", "Popen")
_TEMPLATE = re.compile(r"\bf(\"\"\"|\"|')(.*?)\1", re.S)


def _written(index: Index, body: Function, line: int, known: Mapping[str, str]) -> Iterator[str]:
    """The templates of the statement that begins at `line`, with what is known put in."""
    after = min((event.line for event in body.events if event.line > line), default=body.end_line + 1)
    lines = (index.repository.read(body.path) or "").split("\n")[line - 1 : after - 1]
    for match in _TEMPLATE.finditer("\n".join(lines)[:MAX_TEXT]):
        text = match[2].replace("\\\n", " ")
        yield re.sub(r"\{(\w+)\}", lambda hole: known.get(hole[1], hole[0]), text)


def _constants(body: Function) -> Iterator[tuple[str, str]]:
    """What names of the file are, those that a loop goes through at first: for rate in [0.1, 0.01]"""
    for name, found in bindings(body).items():
        value = found[0].value if len(found) == 1 and not found[0].items else None
        if value is not None and found[0].kind == "for" and value.kind in ("list", "tuple") and value.parts:
            value = value.parts[0]
        if value is not None and value.kind in ("string", "number", "constant"):
            yield name, value.text


def _texts(value: Expr, known: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """The strings of an expression, with their lines; of a template that is filled what it is filled with, as far as that
    is known.
    """
    if (
        value.kind == "call"
        and value.last == "format"
        and value.receiver is not None
        and value.receiver.kind == "string"
    ):
        given = iter(value.arguments)
        filled = _HOLE.sub(lambda hole: _filling(next(given, None), hole[0], known), value.receiver.text)
        yield filled, value.receiver.line
    elif value.kind == "string":
        yield value.text, value.line
    else:
        for part in value.parts:
            yield from _texts(part, known)


def _filling(given: Expr | None, hole: str, known: Mapping[str, str]) -> str:
    if given is None:
        return hole
    return known.get(given.text, hole) if given.kind == "path" else given.text or hole


def _only_starts(file: FileFacts) -> bool:
    """It is short and defines nothing, or only what reads its own options."""
    defined = (function for function in file.functions.values() if function is not file.body)
    if file.body.end_line > MAX_LINES or file.classes:
        return False
    return all(_READS_OPTIONS.match(function.name) for function in defined)


_READS_OPTIONS = re.compile(r"(?:parse|get)_(?:args?|arguments|opts?|options)$")
