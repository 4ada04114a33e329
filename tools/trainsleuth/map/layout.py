"""The text of a map: header, ten parts, features and traps, strictly within a budget of tokens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .records import COMPONENTS, OBSERVED, Part, Place

MIN_BUDGET = 200  # tokens: below this the ten names and statuses do not fit
NEAR, NEAR_IN_LOOP = 0.5, 0.75
SAME_ROLE, SAME_ROLE_NEAR = 0.95, 0.88
FAR_APART = 1_000_000
RAN = " [ran]"  # behind the line number of a place that was seen to run
SHARES = {  # of the room for places; the loop gets most because nothing else shows it
    "entry_point": 0.08,
    "config": 0.10,
    "data": 0.11,
    "model": 0.11,
    "loss": 0.10,
    "optimizer_scheduler": 0.10,
    "training_loop": 0.15,
    "logging": 0.08,
    "checkpointing": 0.08,
    "evaluation": 0.09,
}


class Sheet:
    """Text under construction: what has been chosen so far, and what it costs in characters."""

    def __init__(self, budget: int) -> None:
        self.room = budget * 4
        self.chosen: dict[str, list[Place]] = {}
        self.cost: dict[str, int] = {}

    def price(self, name: str, place: Place) -> int:
        """Characters that one more place takes: its line, and its file's name when that is new to the part."""
        new = all(other.path != place.path for other in self.chosen.get(name, ()))
        return len(line_of(place)) + 1 + (len(place.path) + 3 if new else 0)

    def add(self, name: str, place: Place) -> bool:
        price = self.price(name, place)
        if price > self.room:
            return False
        self.room -= price
        self.chosen.setdefault(name, []).append(place)
        self.cost[name] = self.cost.get(name, 0) + price
        return True


def line_of(place: Place) -> str:
    where = f"{place.line}" if place.cell is None else f"cell {place.cell}:{place.line}"
    where += RAN if place.role == OBSERVED else ""
    return f"  {where} {place.text}" if place.text else f"  {where} ({place.role})"


def choose(
    parts: Mapping[str, Part], sheet: Sheet, shares: Mapping[str, float] = SHARES
) -> dict[str, tuple[Place, ...]]:
    """Places for each part, best first, until the room is spent: the part furthest below its share goes next."""
    waiting = {name: list(ranked(parts[name].places, name)) for name in shares if name in parts}
    while any(waiting.values()):
        name = min((n for n in waiting if waiting[n]), key=lambda n: (sheet.cost.get(n, 0) / shares[n], n))
        place = waiting[name].pop(0)
        if not sheet.add(name, place):
            waiting[name].clear()
    return {name: tuple(sheet.chosen.get(name, ())) for name in parts}


def ranked(places: Sequence[Place], name: str) -> Iterator[Place]:
    """Best first; a place near one that was taken, or of a role that was shown often, waits."""
    left = sorted(places, key=lambda p: (-p.score, p.path, p.line))
    taken: list[Place] = []
    while left:
        best = max(left, key=lambda p: (_worth(p, taken, name), p.path == (taken[-1].path if taken else ""), -p.line))
        left.remove(best)
        taken.append(best)
        yield best


def _worth(place: Place, taken: Sequence[Place], name: str) -> float:
    worth = place.score
    near = NEAR_IN_LOOP if name == "training_loop" else NEAR
    for other in taken:
        apart = abs(other.line - place.line) if other.path == place.path else FAR_APART
        if apart <= 5:
            worth *= near
        elif other.role == place.role:
            worth *= SAME_ROLE if apart >= 15 else SAME_ROLE_NEAR
    return worth


def body(parts: Mapping[str, Part], chosen: Mapping[str, Sequence[Place]]) -> Iterator[str]:
    for name in COMPONENTS:
        yield heading(name, parts[name])
        yield from listed(chosen.get(name, ()))


def heading(name: str, part: Part) -> str:
    words = name.replace("_", " ")
    status = "" if part.status == "found" else f" [{part.status}]"
    return f"# {words}{status}" + (f" {part.why}" if part.why else "")


def listed(places: Sequence[Place]) -> Iterator[str]:
    """Places by file, files in the order of their best place, lines in order."""
    for path in dict.fromkeys(place.path for place in places):
        yield f" {path}"
        for place in sorted((p for p in places if p.path == path), key=lambda p: (p.cell or 0, p.line)):
            yield line_of(place)
