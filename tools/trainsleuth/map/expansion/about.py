"""What a program says about some words: settings, definitions and statements that hold them, the rarest words first."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from trainsleuth.facts import FileFacts

from ..configuration import Key, Truth
from ..parts import source_lines
from ..program import Program
from ..records import Place
from ..standing import off
from ..statements import enclosing, event_at, is_class_body
from .config import key_line, worth
from .sections import is_set
from .settings import is_of_others
from .writer import Writer
from .writing import Block

MAX_KEYS = 10
MAX_FOUND = 60
MAX_HITS = 4000  # lines of code that are looked at
BODY = 26  # lines of code of a function of that name which is shown at once
_TALKS = re.compile(r"\blog(?:ger|ging)?\.|print|warn|add_argument\(|help=|^(?:raise|assert)\b", re.I)


class _Found(NamedTuple):
    """A statement or definition, and what of the words it holds is worth."""

    place: Place
    worth: float


def blocks(program: Program, truth: Truth, words: Sequence[str]) -> Iterator[Block]:
    """One block for each definition and statement in code that the program reaches, best first."""
    writer = Writer(program, truth, {}, set())
    seen: set[tuple[str, int]] = set()
    for one in _found(program, truth, tuple(word.lower() for word in words)):
        if (mark := (one.place.path, one.place.line)) not in seen:
            seen.add(mark)
            yield writer.body(one.place, BODY) if one.place.role == "definition" else writer.block(one.place)[0]


def settings(truth: Truth, words: Sequence[str], names: Mapping[str, str]) -> Iterator[tuple[Block, bool]]:
    """One block for each setting whose name or help holds them, and whether somebody set it."""
    found = []
    for key in truth.keys:
        held = _held(key, [word.lower() for word in words])
        if held and (is_set(key) or (key.uses == "read" and not is_of_others(truth, key))):
            found.append((-held, not is_set(key), -worth(key), key))
    for place, (_, _, _, key) in enumerate(sorted(found, key=lambda one: one[:3])[:MAX_KEYS]):
        yield Block(("# settings",), (place,), (f"  {key_line(truth, key, names)}",), key.to_dict()), is_set(key)


def _held(key: Key, words: Sequence[str]) -> float:
    name, last = key.name.lower(), key.name.lower().rpartition(".")[2]
    return sum(1.0 if word in last else 0.5 if word in name else 0.0 for word in words)


def _found(program: Program, truth: Truth, words: Sequence[str]) -> list[_Found]:
    hits = list(_hits(program, words))
    count = Counter(word for held in hits for word in held[2])
    rare = {word: 1 / (1 + math.log(max(1, count[word]))) for word in words}
    found: dict[Place, set[str]] = {}
    for file, line, held in hits:
        if (place := _place(file, line, held)) is not None:
            found.setdefault(place, set()).update(held)
    best = [_judged(program, truth, place, [rare[one] for one in held]) for place, held in found.items()]
    return sorted(best, key=lambda one: (-one.worth, one.place.path, one.place.line))[:MAX_FOUND]


def _hits(program: Program, words: Sequence[str]) -> Iterator[tuple[FileFacts, int, list[str]]]:
    """Lines of code that hold some of the words."""
    pattern = re.compile("|".join(map(re.escape, words)))
    near = sorted(program.entry.reach.files, key=lambda path: (-program.weight(program.index.files[path].body), path))
    count = 0
    for path in near:
        for number, text in enumerate(source_lines(program.index, path), 1):
            line = text.lower()
            if pattern.search(line) and not line.lstrip().startswith(("#", "import ", "from ")):
                yield program.index.files[path], number, [word for word in words if word in line]
                count += 1
        if count > MAX_HITS:
            return


def _place(file: FileFacts, line: int, held: Sequence[str]) -> Place | None:
    """The statement of a line, or the definition of that name; None for text."""
    function = enclosing(file, line)
    first = function.events[0].line if function.events else function.end_line
    if function is not file.body and function.line <= line < max(first, function.line + 1):
        named = any(word in function.name.lower() for word in held) and not is_class_body(file, function)
        return Place(file.path, function.line, "definition" if named else "signature", 0.0)
    found = event_at(function, line)
    if found is None or line - found[1].line > MAX_STATEMENT:
        return None
    return Place(file.path, found[1].line, "statement", 0.0)


MAX_STATEMENT = 12  # lines from the begin of a statement to one of its lines


_ROLES = {"definition": 1.5, "statement": 1.0, "signature": 0.4}


def _judged(program: Program, truth: Truth, place: Place, held: Sequence[float]) -> _Found:
    function = enclosing(program.index.files[place.path], place.line)
    text = source_lines(program.index, place.path)[place.line - 1].strip()
    aside = (0.4 if _TALKS.search(text) else 1.0) * (1.0 if program.is_reached(function) else 0.5)
    aside *= 0.6 if off(program, truth, function, place.line) else 1.0
    worth = sum(held) * aside * (0.5 + program.weight(function)) * _ROLES[place.role]
    return _Found(place._replace(text=text), worth)
