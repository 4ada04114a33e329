"""What a run showed of a program's parts, and where that differs from what reading said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Seen:
    """One object or call that played a part while the program ran.

    `component` is one of the ten of a map. `path` and `line` are in the user's repository, None where only a
    library's line (`lib`) was seen. `facts` are plain JSON: shapes, sizes, values.
    """

    component: str
    role: str
    name: str
    path: str | None = None
    line: int | None = None
    lib: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """`path:line`, else the library's line, else ""."""
        return f"{self.path}:{self.line}" if self.path is not None else self.lib or ""

    def to_dict(self) -> dict[str, Any]:
        plain = {
            "component": self.component,
            "role": self.role,
            "name": self.name,
            "path": self.path,
            "line": self.line,
        }
        return {**plain, "lib": self.lib, **self.facts}


@dataclass(frozen=True)
class Settings:
    """One object that the program was configured with: its plain values by dotted key."""

    name: str
    type: str
    path: str | None
    line: int | None
    values: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        plain = {"name": self.name, "type": self.type, "path": self.path, "line": self.line}
        return {**plain, "values": dict(self.values)}


@dataclass(frozen=True)
class Difference:
    """Reading said one thing of a component, the run showed another; `settles` when reading could not decide."""

    component: str
    read: str
    seen: str
    settles: bool = False

    def to_dict(self) -> dict[str, Any]:
        return {"component": self.component, "read": self.read, "seen": self.seen, "settles": self.settles}


@dataclass(frozen=True)
class Observation:
    """A few steps of the user's own program. `why` says how the run ended, `order` what one step does."""

    command: tuple[str, ...]
    ran: str
    ended: str
    why: str
    seconds: float
    steps: int
    processes: int
    trained: bool
    parts: tuple[Seen, ...] = ()
    order: str = ""
    settings: tuple[Settings, ...] = ()
    files: tuple[str, ...] = ()
    hooks_missing: Mapping[str, str] = field(default_factory=dict)
    output: str = ""

    def of(self, component: str, *roles: str) -> list[Seen]:
        """What played this part, in the order in which it came up."""
        return [one for one in self.parts if one.component == component and (not roles or one.role in roles)]

    def to_dict(self) -> dict[str, Any]:
        plain = {"command": list(self.command), "ran": self.ran, "ended": self.ended, "why": self.why}
        return {
            **plain,
            "output": "" if self.trained else self.output[-4_000:],
            "seconds": round(self.seconds, 1),
            "steps": self.steps,
            "processes": self.processes,
            "trained": self.trained,
            "order": self.order,
            "parts": [one.to_dict() for one in self.parts],
            "settings": [one.to_dict() for one in self.settings],
            "files": list(self.files),
            "hooks_missing": dict(self.hooks_missing),
        }
