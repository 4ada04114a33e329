"""Lines of code that hold some of the words that are asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainsleuth.facts import FileFacts
from trainsleuth.repository import is_source

from ..parts import source_lines
from ..program import Program
from ..records import Place
from ..statements import enclosing, event_at, is_class_body

MAX_HITS = 4000  # lines of code that are looked at


class Hit(NamedTuple):
    """One line with the words that it holds."""

    file: FileFacts
    line: int
    text: str
    words: tuple[str, ...]


def hits(program: Program, words: Sequence[str]) -> Iterator[Hit]:
    """Lines of code that hold some of the words: in files that the program loads, in others what none of these has."""
    loaded, files = program.entry.reach.files, program.index.files
    near = sorted(loaded, key=lambda path: (-program.weight(files[path].body), path))
    seen: set[str] = set()
    for found in _lines_with(program, near, words):
        seen.update(found.words)
        yield found
    if left := [word for word in words if word not in seen]:
        yield from _lines_with(program, [path for path in files if path not in loaded and is_source(path)], left)


def _lines_with(program: Program, paths: Sequence[str], words: Sequence[str]) -> Iterator[Hit]:
    patterns = {word: re.compile(pattern_of(word)) for word in words}
    any_of = re.compile("|".join(map(pattern_of, words)))
    count = 0
    for path in paths:
        for number, text in enumerate(source_lines(program.index, path), 1):
            line = text.lower()
            if any_of.search(line) and not line.lstrip().startswith(("#", "import ", "from ")):
                held = tuple(word for word in words if patterns[word].search(line))
                yield Hit(program.index.files[path], number, text, held)
                count += 1
        if count > MAX_HITS:
            return


def place_of(hit: Hit) -> Place | None:
    """The statement of a line, or the definition of that name; None for text."""
    file, line, text, held = hit
    function = enclosing(file, line)
    if function is file.body or (function.events and line >= function.events[0].line):
        found = event_at(function, line)
        if found is None or line - found[1].line > MAX_STATEMENT:
            return None
        return Place(file.path, found[1].line, "statement", 0.0)
    if line == function.line and is_class_body(file, function):
        return Place(file.path, line, "statement", 0.0)
    if line == function.line and any(word in function.name.lower() for word in held):
        return Place(file.path, line, "definition", 0.0)
    name = _PARAMETER.match(text)
    if line == function.line or (name is not None and function.parameter(name[1]) is not None):
        return Place(file.path, line, "parameter", 0.0)
    return None


_PARAMETER = re.compile(r"\s*\*{0,2}(\w+)\b(?=.*(?:=|[,)]\s*(?:->.*)?:?\s*(?:#.*)?$))")  # not a line of a docstring


MAX_STATEMENT = 24  # lines from the begin of a statement to one of its lines


def pattern_of(word: str) -> str:
    """A short word counts only where no letter stands before it, a very short one as a whole: lr is not in already."""
    before = r"(?<![a-z])" if len(word) <= SHORT else ""
    after = r"(?![a-z])" if len(word) < SHORT else ""
    return before + re.escape(word) + after


SHORT = 4
