"""The text of a map: header, ten parts, features and traps, strictly within a budget of tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from ..records import COMPONENTS, Part, Place
from . import brief

MIN_BUDGET = 200  # tokens: below this the ten names and statuses do not fit
NEAR, NEAR_IN_LOOP = 0.5, 0.75
SAME_ROLE, SAME_ROLE_NEAR = 0.95, 0.88
FAR_APART = 1_000_000
WHOLE = 0.25  # of the room, for places with their line of source
ALSO = "  also"
DOCUMENTS = (".md", ".rst")
MOST = {"entry_point": 24}  # places: a program of one file would stand there line by line
MOST_OF_DOCUMENTS = 4  # lines for one part: the rest are commands for other runs
SHARES = {  # of the room for places; the loop gets most because nothing else shows it
    "entry_point": 0.065,
    "config": 0.10,
    "data": 0.115,
    "model": 0.115,
    "loss": 0.10,
    "optimizer_scheduler": 0.10,
    "training_loop": 0.15,
    "logging": 0.08,
    "checkpointing": 0.08,
    "evaluation": 0.13,
}


class Sheet:
    """Text under construction: what has been chosen so far, and what it costs in characters."""

    def __init__(self, budget: int) -> None:
        self.room = budget * 4
        self.chosen: dict[str, list[Place]] = {}
        self.cost: dict[str, int] = {}

    def price(self, name: str, place: Place) -> int:
        """Characters that one more place takes: its line or its word, and its file's name when that is new to the part."""
        beside = [other for other in self.chosen.get(name, ()) if other.path == place.path]
        if not place.brief:
            return len(line_of(place)) + 1 + (0 if beside else len(place.path) + 3)
        words = [other for other in beside if other.brief]
        return brief.price(place, words) + (0 if words else len(ALSO) if beside else len(place.path) + 1)

    def add(self, name: str, place: Place) -> bool:
        price = self.price(name, place)
        if price > self.room:
            return False
        self.room -= price
        self.chosen.setdefault(name, []).append(place)
        self.cost[name] = self.cost.get(name, 0) + price
        return True

    def widen(self, name: str, place: Place) -> bool:
        """The whole line of a place that was shown by a word."""
        wide = place._replace(brief=False)
        beside = [one for one in self.chosen[name] if one.path == place.path and one is not place]
        header = 0 if any(not one.brief for one in beside) else len(ALSO) + 1  # the name of the file gets its own line
        price = len(line_of(wide)) + 1 - brief.price(place, [one for one in beside if one.brief]) + header
        if price > self.room:
            return False
        self.room -= price
        self.chosen[name][self.chosen[name].index(place)] = wide
        return True


def line_of(place: Place) -> str:
    return f"  {brief.where_of(place)} {place.text}" if place.text else f"  {brief.where_of(place)} ({place.role})"


def choose(
    parts: Mapping[str, Part], sheet: Sheet, shares: Mapping[str, float] = SHARES
) -> dict[str, tuple[Place, ...]]:
    """Places for each part, best first, until the room is spent: the part furthest below its share goes next.

    The best are shown with their line of source; the rest by a word, and whole again where room is left.
    """
    waiting = {
        name: list(islice(_few_documents(ranked(parts[name].places, name)), MOST.get(name)))
        for name in shares
        if name in parts
    }
    kept = int(sheet.room * (1 - WHOLE))
    sheet.room -= kept
    for name, place in _in_turn(waiting, sheet, shares):
        if not sheet.add(name, place):
            waiting[name].insert(0, place)
            break
    sheet.room += kept
    words: list[tuple[str, Place]] = []
    for name, place in _in_turn(waiting, sheet, shares):
        if sheet.add(name, short := place._replace(brief=True)):
            words.append((name, short))
        else:
            waiting[name].clear()
    for name, place in words:
        if not sheet.widen(name, place):
            break
    return {name: tuple(sheet.chosen.get(name, ())) for name in parts}


def _few_documents(places: Iterable[Place]) -> Iterator[Place]:
    left = MOST_OF_DOCUMENTS
    for place in places:
        left -= place.path.endswith(DOCUMENTS)
        if left >= 0 or not place.path.endswith(DOCUMENTS):
            yield place


def _in_turn(
    waiting: Mapping[str, list[Place]], sheet: Sheet, shares: Mapping[str, float]
) -> Iterator[tuple[str, Place]]:
    while any(waiting.values()):
        name = min((n for n in waiting if waiting[n]), key=lambda n: (sheet.cost.get(n, 0) / shares[n], -shares[n], n))
        yield name, waiting[name].pop(0)


def ranked(places: Sequence[Place], name: str) -> Iterator[Place]:
    """Best first; a place near one that was taken, or of a role that was shown often, waits."""
    worth = {place: place.score for place in sorted(places, key=lambda p: (-p.score, p.path, p.line))}
    near = NEAR_IN_LOOP if name == "training_loop" else NEAR
    last = ""
    while worth:
        best = max(worth, key=lambda p: (worth[p], p.path == last, -p.line))
        del worth[best]
        last = best.path
        for other in worth:
            worth[other] *= _wait(other, best, near)
        yield best


def _wait(place: Place, taken: Place, near: float) -> float:
    apart = abs(taken.line - place.line) if taken.path == place.path else FAR_APART
    if apart <= 5:
        return near
    if taken.role == place.role:
        return SAME_ROLE if apart >= 15 else SAME_ROLE_NEAR
    return 1.0


def body(parts: Mapping[str, Part], chosen: Mapping[str, Sequence[Place]]) -> Iterator[str]:
    for name in COMPONENTS:
        yield heading(name, parts[name])
        yield from listed(chosen.get(name, ()))


def heading(name: str, part: Part) -> str:
    words = name.replace("_", " ")
    status = "" if part.status == "found" else f" [{part.status}]"
    return f"# {words}{status}" + (f" {part.why}" if part.why else "")


def listed(places: Sequence[Place]) -> Iterator[str]:
    """Places by file, files in the order of their best place, lines in order; behind them those in a word."""
    for path in dict.fromkeys(place.path for place in places):
        inside = sorted((p for p in places if p.path == path), key=lambda p: (p.cell or 0, p.line))
        words = brief.in_words(place for place in inside if place.brief)
        whole = [line_of(place) for place in inside if not place.brief]
        yield f" {path}" if whole else f" {path}: {words}"
        yield from whole
        if whole and words:
            yield f"{ALSO} {words}"
