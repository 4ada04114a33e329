"""What a program says about some words: settings, definitions and statements that hold them, the rarest words first."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from trainsleuth.facts import MODULE_BODY, Function

from ..configuration import Key, Truth
from ..parts import source_lines
from ..program import Program
from ..records import Place
from ..standing import off
from ..statements import enclosing
from ..wording import clean
from .choosing import is_open
from .config import key_line, worth
from .hits import hits, pattern_of, place_of
from .sections import is_set
from .settings import is_of_others
from .writer import Writer
from .writing import Block

MAX_KEYS = 10
MAX_FOUND = 60
BODY = 26  # lines of code of a function of that name which is shown at once
_TALKS = re.compile(r"\blog(?:ger|ging)?\.|print|warn|add_argument\(|ArgumentParser\(|help=|^(?:raise|assert)\b", re.I)


class _Found(NamedTuple):
    """A statement or definition, and what of the words it holds is worth."""

    place: Place
    worth: float
    lines: tuple[int, ...]


def blocks(program: Program, truth: Truth, words: Sequence[str]) -> Iterator[Block]:
    """One block for each definition and statement in code that the program reaches, best first."""
    writer = Writer(program, truth, {}, set())
    seen: set[tuple[str, ...]] = set()
    for one in _found(program, truth, tuple(word.lower() for word in words)):
        block = _block(writer, one.place, one.lines)
        mark = tuple(line for line in block.lines if line.startswith("   |")) or (one.place.path, str(one.place.line))
        if mark not in seen:
            seen.add(mark)
            yield block


def _block(writer: Writer, place: Place, lines: Sequence[int]) -> Block:
    if place.role == "definition":
        return writer.body(place, BODY)
    function = enclosing(writer.program.index.files[place.path], place.line)
    if place.role == "statement":
        return _with_cut(writer, writer.block(place)[0], lines)
    text = clean(place.text, SCRIPT_WIDTH)
    item = {**place.to_dict(), "function": function.qualname, "signature": True}
    return Block(writer.headings(place, function), (place.line,), (f"   {place.line} {text}",), item)


def _with_cut(writer: Writer, block: Block, lines: Sequence[int]) -> Block:
    """With those of the lines that a long statement was cut before."""
    if block.span is not None or not any("…" in line for line in block.lines):
        return block
    source = writer.texts[str(block.item["path"])]
    shown = "".join("".join(block.lines).split())
    cut = [one for one in lines if "".join(source[one - 1].split())[:20] not in shown][:MAX_CUT]
    return block._replace(lines=(*block.lines, *(f"     {one} {clean(source[one - 1], SCRIPT_WIDTH)}" for one in cut)))


MAX_CUT = 3  # lines of a statement behind its beginning


def scripts(program: Program, words: Sequence[str]) -> Iterator[Block]:
    """One block for each line of the launch scripts beside the recipe that holds them."""
    pattern = re.compile("|".join(re.escape(word) for word in words), re.I)
    home = PurePosixPath(program.recipe).parents if program.recipe is not None else ()
    beside = {str(one) for one in home[:2]}
    for path in program.index.repository.files if beside else ():
        if path.endswith(".sh") and str(PurePosixPath(path).parent) in beside:
            for number, line in enumerate((program.index.repository.read(path) or "").split("\n"), 1):
                if pattern.search(line) and not line.lstrip().startswith("#"):
                    text = f"  {number} {clean(line, SCRIPT_WIDTH)}"
                    yield Block((f" {path}",), (number,), (text,), {"path": path, "line": number, "text": line.strip()})


SCRIPT_WIDTH = 140


def settings(truth: Truth, words: Sequence[str], names: Mapping[str, str]) -> Iterator[tuple[Block, bool]]:
    """One block for each setting whose name or help holds them, and whether somebody set it."""
    patterns = [re.compile(pattern_of(word.lower())) for word in words]
    names_of = [key.name.lower() for key in truth.keys]
    rare = {one: _rarity(sum(one.search(name) is not None for name in names_of)) for one in patterns}
    found = []
    for key in truth.keys:
        held = _held(key, rare)
        if held and (is_set(key) or (key.uses == "read" and not is_of_others(truth, key))):
            found.append((-held, not is_set(key), -worth(key), key))
    for place, (_, _, _, key) in enumerate(sorted(found, key=lambda one: one[:3])[:MAX_KEYS]):
        yield Block(("# settings",), (place,), (f"  {key_line(truth, key, names)}",), key.to_dict()), is_set(key)


def _held(key: Key, rare: Mapping[re.Pattern[str], float]) -> float:
    """By the rarity of the words that its name holds, those in its last part twice."""
    name, last = key.name.lower(), key.name.lower().rpartition(".")[2]
    return sum((1.0 if one.search(last) else 0.5) * worth for one, worth in rare.items() if one.search(name))


def _rarity(count: int) -> float:
    """A word that many hold tells little: a section that all keys share."""
    return 1 / (1 + math.log(max(1, count)))


def _found(program: Program, truth: Truth, words: Sequence[str]) -> list[_Found]:
    every = list(hits(program, words))
    count = Counter(word for hit in every for word in hit.words)
    rare = {word: _rarity(count[word]) for word in words}
    found: dict[Place, set[str]] = {}
    lines: dict[Place, list[int]] = {}
    for hit in every:
        if (place := place_of(hit)) is not None:
            found.setdefault(place, set()).update(hit.words)
            lines.setdefault(place, []).append(hit.line)
    home = {place: enclosing(program.index.files[place.path], place.line) for place in found}
    around: dict[Function, set[str]] = {}
    for place, known in found.items():
        around.setdefault(home[place], set()).update(known if home[place].name != MODULE_BODY else ())
    best = []
    for place, known in found.items():
        said = [rare[one] for one in known] + [NEARBY * rare[one] for one in around[home[place]] - known]
        best.append(_judged(program, truth, place, said, lines[place]))
    return sorted(best, key=lambda one: (-one.worth, one.place.path, one.place.line))[:MAX_FOUND]


NEARBY = 0.3  # what a word counts that stands in the function, but not in the statement


_ROLES = {"definition": 1.5, "statement": 1.0, "parameter": 0.8}


def _judged(program: Program, truth: Truth, place: Place, held: Sequence[float], lines: Sequence[int]) -> _Found:
    function = enclosing(program.index.files[place.path], place.line)
    text = source_lines(program.index, place.path)[place.line - 1].strip()
    aside = (0.4 if _TALKS.search(text) else 1.0) * (1.0 if program.is_reached(function) else 0.5)
    aside *= 0.3 if is_open(function) else 1.0
    aside *= 0.6 if off(program, truth, function, place.line) else 1.0
    worth = sum(held) * aside * (0.5 + program.weight(function)) * _ROLES[place.role]
    return _Found(place._replace(text=text), worth, tuple(lines))
