"""Puts what ran onto the map that was read, and says where the two differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from trainsleuth.map import Anatomy, Part, Place
from trainsleuth.map.parts import clean, source_lines
from trainsleuth.map.records import OBSERVED
from trainsleuth.observing.records import Difference, Observation, Seen

SCORE = {"class": 2.0, "dataset": 2.0, "loss": 2.0, "optimizer": 2.0, "call": 1.8, "loader": 1.8}  # else 1.6
NEAR = 3  # lines: a call over several lines is read at its first and seen to run at any
TELLING = {  # the roles of a component by which reading and running are compared
    "entry_point": ("entry",),
    "data": ("dataset", "dataset behind it", "loader"),
    "model": ("class",),
    "loss": ("loss",),
    "optimizer_scheduler": ("optimizer", "scheduler"),
    "training_loop": ("backward", "optimizer step"),
}


def joined(anatomy: Anatomy, seen: Observation) -> Anatomy:
    """The anatomy with every place of its files that ran, first in its component."""
    parts = {name: _part(anatomy, part, seen.of(name)) for name, part in anatomy.parts.items()}
    return replace(anatomy, parts=parts, trains=anatomy.trains or seen.trained)


def _part(anatomy: Anatomy, part: Part, seen: list[Seen]) -> Part:
    ran: dict[tuple[str, int], Place] = {}
    for place in _places(anatomy, seen):
        ran.setdefault((place.path, place.line), place)
    if not ran:
        return part
    rest = [place for place in part.places if (place.path, place.line) not in ran]
    settled = part.status in ("unresolved", "absent")
    status = "found" if settled else part.status
    return replace(part, status=status, why="" if settled else part.why, places=(*ran.values(), *rest))


def _places(anatomy: Anatomy, seen: Iterable[Seen]) -> Iterator[Place]:
    texts: dict[str, list[str]] = {}
    for one in seen:
        if one.path is not None and one.line is not None and one.path in anatomy.index.files:
            if one.path not in texts:
                texts[one.path] = source_lines(anatomy.index, one.path)
            lines = texts[one.path]
            text = clean(lines[one.line - 1]) if 0 < one.line <= len(lines) else ""
            if text:
                yield Place(one.path, one.line, OBSERVED, SCORE.get(one.role, 1.6), text)


def differences(anatomy: Anatomy, seen: Observation) -> Iterator[Difference]:
    """Where reading could not say, or said something else than what ran."""
    for name, roles in TELLING.items():
        part, ran = anatomy.parts[name], seen.of(name, *roles)
        if not ran:
            continue
        if part.status in ("unresolved", "absent"):
            yield Difference(name, f"{part.status}: {part.why}", _told(ran), settles=True)
            continue
        missed = [one for one in ran if one.path is not None and not _is_read(part, one)]
        if missed:
            yield Difference(name, _read(part), _told(missed))
    yield from _not_run(anatomy.parts["model"], seen)


def _is_read(part: Part, one: Seen) -> bool:
    return any(place.path == one.path and abs(place.line - (one.line or 0)) <= NEAR for place in part.places)


def _read(part: Part) -> str:
    if not part.places:
        return f"{part.status}: {part.why}"
    best = part.places[0]
    return f"{len(part.places)} places, the likeliest {best.path}:{best.line} {best.text}"


def _told(ran: list[Seen]) -> str:
    return ", ".join(dict.fromkeys(f"{one.name} at {one.place}" if one.place else one.name for one in ran[:4]))


def _not_run(model: Part, seen: Observation) -> Iterator[Difference]:
    """Networks that reading took for the program's own, and that no call in these steps went through."""
    ran = seen.of("model", "class")
    if not any(one.path for one in ran):
        return
    lines = {one.place for one in ran}
    for one in ran:
        lines.update(one.facts.get("bases", ()))
        lines.update(held.rpartition("(")[2].rstrip(")") for held in one.facts.get("holds", ()))
    idle = [place for place in model.places if place.role == "class" and f"{place.path}:{place.line}" not in lines]
    if idle:
        shown = ", ".join(f"{place.path}:{place.line} {place.text}" for place in idle[:4])
        more = f" and {len(idle) - 4} more" if len(idle) > 4 else ""
        yield Difference("model", f"also {shown}{more}", "not run in these steps")
