"""What the user agreed to before anything runs: one folder, one command, and how long it may run at a time."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PINNED = (  # arguments that the model never gives; what is not in `pinned` keeps its default
    "root",
    "command",
    "observe_command",
    "again",
    "cwd",
    "python",
    "contain",
    "write_notes",
)


@dataclass(frozen=True)
class Agreement:
    """`cwd` is relative to `root`. `seconds` bound one run of the command. `may_change`: changes are tried on a copy."""

    root: Path
    command: tuple[str, ...]
    cwd: str = "."
    python: str = ""
    contain: str = "auto"
    seconds: float = 90.0
    may_change: bool = False

    @property
    def pinned(self) -> Mapping[str, Any]:
        """The arguments that every tool gets from us, whatever the model writes."""
        return {
            "root": str(self.root),
            "command": list(self.command),
            "observe_command": [],  # the map stays a thing that is read
            "cwd": self.cwd,
            "python": self.python,
            "contain": self.contain,
            "write_notes": True,
        }

    @property
    def words(self) -> str:
        """What is asked of the user, in a sentence."""
        change = " and, on a copy, with changes that it writes: its code then runs as you" if self.may_change else ""
        return (
            f"A model may run {shlex.join(self.command)!r} in {self.root / self.cwd}, up to {self.seconds:.0f} s at a time, "
            f"as often as its limits allow{change}; it reads files below {self.root}, and what it reads is sent to the API."
        )
