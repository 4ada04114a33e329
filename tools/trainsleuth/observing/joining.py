"""Puts what ran onto the map that was read, and says where the two differ."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from trainsleuth.map import Anatomy, Part, Place
from trainsleuth.map.parts import clean, source_lines
from trainsleuth.map.records import OBSERVED
from trainsleuth.observing.records import Difference, Observation, Seen

SCORE = {"class": 2.0, "dataset": 2.0, "loader class": 2.0, "loss": 2.0, "optimizer": 2.0, "call": 1.8, "loader": 1.8}
OTHER_SCORE = 1.6
MADE = ("optimizer", "scheduler", "loader", "dataset")  # a configuration that is read may name their class
PLAIN = "PyTorch"  # what the map calls a program without a framework; in one, the framework makes things by itself
NEAR = 3  # lines: a call over several lines is read at its first and seen to run at any
TELLING = {  # the roles of a component by which reading and running are compared
    "data": ("dataset", "dataset behind it", "loader", "loader class"),
    "model": ("class",),
    "loss": ("loss",),
    "optimizer_scheduler": ("optimizer", "optimizer class", "scheduler", "scheduler class"),
    "training_loop": ("backward", "optimizer step"),
}


def joined(anatomy: Anatomy, seen: Observation) -> Anatomy:
    """The anatomy with every place of its files that ran, first in its component."""
    parts = {name: _part(anatomy, part, seen.of(name)) for name, part in anatomy.parts.items()}
    return replace(anatomy, parts=parts, trains=anatomy.trains or seen.trained)


def _part(anatomy: Anatomy, part: Part, seen: list[Seen]) -> Part:
    ran: dict[tuple[str, int], Place] = {}
    for place in _places(anatomy, part, seen):
        ran.setdefault((place.path, place.line), place)
    if not ran:
        return part
    rest = [place for place in part.places if (place.path, place.line) not in ran]
    settled = part.status in ("unresolved", "absent")
    status = "found" if settled else part.status
    return replace(part, status=status, why="" if settled else part.why, places=(*ran.values(), *rest))


def _places(anatomy: Anatomy, part: Part, seen: Iterable[Seen]) -> Iterator[Place]:
    """Places of the repository that ran; of the callers on the way to one, those that reading named as well."""
    texts: dict[str, list[str]] = {}
    read = {(place.path, place.line) for place in part.places}
    for one in seen:
        callers = [_split(site) for site in one.facts.get("via", ())]
        for path, line in [(one.path, one.line), *(caller for caller in callers if caller in read)]:
            if path is None or line is None or path not in anatomy.index.files:
                continue
            if path not in texts:
                texts[path] = source_lines(anatomy.index, path)
            text = clean(texts[path][line - 1]) if 0 < line <= len(texts[path]) else ""
            if text:
                yield Place(path, line, OBSERVED, SCORE.get(one.role, OTHER_SCORE), text)


def _split(site: str) -> tuple[str, int]:
    path, _, line = site.rpartition(":")
    return path, int(line)


def differences(anatomy: Anatomy, seen: Observation) -> Iterator[Difference]:
    """Where reading could not say, or said something else than what ran; nothing when no step was seen."""
    if not seen.trained:
        return
    for name, roles in TELLING.items():
        part, ran = anatomy.parts[name], seen.of(name, *roles)
        if not ran:
            continue
        if part.status in ("unresolved", "absent"):
            yield Difference(name, f"{part.status}: {part.why}", _told(ran), settles=True)
            continue
        framework = not anatomy.framework.startswith(PLAIN)
        own = (one for one in ran if one.path is not None and not (framework and one.lib))
        missed = [one for one in own if not _is_read(part, one)]
        if missed:
            yield Difference(name, _read(part), _told(missed))
    yield from _not_run(anatomy, seen)


def _is_read(part: Part, one: Seen) -> bool:
    """Reading named the line, or the call that leads to it (a factory is asked elsewhere), or the class by its name."""
    ways = [_split(site) for site in (f"{one.path}:{one.line}", *one.facts.get("via", ()))]
    word = re.compile(rf"\b{re.escape(one.name.rpartition('.')[2])}\b")
    return any(
        (place.path == path and abs(place.line - line) <= NEAR) or (one.role in MADE and word.search(place.text))
        for place in part.places
        for path, line in ways
    )


def _read(part: Part) -> str:
    if not part.places:
        return f"{part.status}: {part.why}"
    best = part.places[0]
    return f"{len(part.places)} places but not this, the likeliest {best.path}:{best.line} {best.text}"


def _told(ran: list[Seen]) -> str:
    return ", ".join(dict.fromkeys(f"{one.name} at {one.place}" if one.place else one.name for one in ran[:4]))


def _not_run(anatomy: Anatomy, seen: Observation) -> Iterator[Difference]:
    """Networks that reading took for the program's own, and that these steps did not go through."""
    if not any(one.path for one in seen.of("model", "class")):
        return
    ran = set(_lines(seen))
    idle = []
    for place in anatomy.parts["model"].places:
        file = anatomy.index.files.get(place.path)
        classes = file.classes.values() if file is not None and place.role == "class" else ()
        cls = next((one for one in classes if one.line == place.line), None)
        if cls is not None and not any(path == cls.path and cls.line <= line <= cls.end_line for path, line in ran):
            idle.append(f"{cls.name} at {place.path}:{place.line}")
    if idle:
        more = f" and {len(idle) - 4} more" if len(idle) > 4 else ""
        yield Difference("model", f"also {', '.join(idle[:4])}{more}", "none of these in the steps seen")


def _lines(seen: Observation) -> Iterator[tuple[str, int]]:
    """Every line of the repository that is known to have run, or to define what ran."""
    for one in seen.parts:
        if one.path is not None and one.line is not None:
            yield one.path, one.line
        held = (words.rpartition("(")[2].rstrip(")") for words in one.facts.get("holds", ()) if "(" in words)
        yield from (_split(site) for site in (*one.facts.get("via", ()), *one.facts.get("bases", ()), *held))
