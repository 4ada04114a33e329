"""What a map is made of: places, parts with a status, and the map itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Status = Literal["found", "absent", "elsewhere", "unresolved"]
COMPONENTS = (
    "entry_point",
    "config",
    "data",
    "model",
    "loss",
    "optimizer_scheduler",
    "training_loop",
    "logging",
    "checkpointing",
    "evaluation",
)
BESIDE, WITHIN, SHARED = FILLING = (
    "beside",
    "within",
    "shared",
)  # roles of places that fill the room of a map, and prove nothing
OBSERVED = "observed"  # the role of a place that was seen to run, whatever reading says of it


class Place(NamedTuple):
    """One line that plays a role. `line` counts from 1, in a notebook within the code cell `cell`.

    `score` orders places of one component: 1 is a strong sign in code that the entry reaches at once,
    below 0.2 a sign that no path from the entry was seen to reach.
    """

    path: str
    line: int
    role: str
    score: float
    text: str = ""
    cell: int | None = None
    brief: bool = False  # shown by a word beside others of its file, not by its line of source

    def to_dict(self) -> dict[str, Any]:
        plain = {"path": self.path, "line": self.line, "role": self.role, "text": self.text}
        return plain if self.cell is None else {**plain, "cell": self.cell}


@dataclass(frozen=True)
class Part:
    """One component or feature of one program: its places, best first, and what became of it.

    found: places that the program reaches. elsewhere: a framework holds it, the places are the hooks that
    the repository defines. unresolved: there are signs, but none that the program is seen to reach; or code was left out.
    absent: no sign in any file that was read. `why` says so in words; "" when there is nothing to add.
    """

    status: Status
    why: str = ""
    places: tuple[Place, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {"status": self.status, "why": self.why, "places": [place.to_dict() for place in self.places]}


@dataclass(frozen=True)
class Map:
    """The map of one program in one repository. `text` is what a reader sees, within the budget.

    `limit` and `used` count tokens of `text` (characters / 4). The places of `components` and `features`
    are exactly those that `text` shows.
    """

    framework: str
    trains: bool
    entry: str
    limit: int
    components: Mapping[str, Part]
    features: Mapping[str, Part]
    text: str
    programs: tuple[str, ...] = ()
    recipes: tuple[str, ...] = ()
    traps: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)

    @property
    def used(self) -> int:
        return tokens(self.text)

    def to_dict(self) -> dict[str, Any]:
        """The contract of `map --format json`: plain JSON types only."""
        return {
            "framework": self.framework,
            "trains": self.trains,
            "entry": self.entry,
            "budget": {"limit": self.limit, "used": self.used},
            "components": {name: part.to_dict() for name, part in self.components.items()},
            "features": {name: part.to_dict() for name, part in self.features.items()},
            "programs": list(self.programs),
            "recipes": list(self.recipes),
            "traps": list(self.traps),
            "unresolved": list(self.unresolved),
            "skipped": dict(self.skipped),
            "text": self.text,
        }


def tokens(text: str) -> int:
    """Characters divided by 4, rounded up."""
    return -(-len(text) // 4)
