"""What one probed process told: its events in order, cut into the steps of its training."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

Event = Mapping[str, Any]


@dataclass(frozen=True)
class Trace:
    """The events of one process, oldest first. `rank` is None outside distributed runs."""

    pid: int
    rank: int | None
    told: tuple[Event, ...]

    def events(self, kind: str) -> tuple[Event, ...]:
        """All events of one kind."""
        return self._by_kind.get(kind, ())

    @cached_property
    def _by_kind(self) -> dict[str, tuple[Event, ...]]:
        kinds: dict[str, list[Event]] = {}
        for event in self.told:
            kinds.setdefault(str(event.get("kind")), []).append(event)
        return {kind: tuple(events) for kind, events in kinds.items()}

    def ops(self, *names: str) -> tuple[Event, ...]:
        """Operations of the traced steps, of these names only when names are given."""
        return tuple(op for op in self.events("op") if not names or op["op"] in names)

    @property
    def steps(self) -> int:
        """Training steps that this process finished."""
        seen = [int(event["n"]) for kind in ("tick", "frozen") for event in self.events(kind)]
        return max(seen, default=0)

    @property
    def trains(self) -> bool:
        """Did this process call backward or step at all?"""
        return self.steps > 0 or bool(self.ops("backward", "step"))

    @property
    def ended_by_itself(self) -> bool:
        """Did the program come to its own end, neither stopped by us nor killed? Known where the step trace or overfit listened."""
        return bool(self.events("modules")) and not self.events("finish")

    @property
    def hooks_missing(self) -> dict[str, str]:
        """Hooks that did not take, with the reason: what they would show was not observed."""
        taken: dict[str, str] = {}
        for event in self.events("hooks"):
            taken.update(event.get("hooks", {}))
        return {name: why for name, why in taken.items() if why != "ok"}

    def cycles(self, optimizer: int) -> Iterator[tuple[Event, ...]]:
        """Operations between two steps of one optimizer, its own step last; the first starts at the beginning."""
        cycle: list[Event] = []
        for op in self.ops():
            cycle.append(op)
            if op["op"] == "step" and op["optimizer"] == optimizer:
                yield tuple(cycle)
                cycle = []

    @cached_property
    def stepping(self) -> tuple[int, ...]:
        """Numbers of the optimizers that stepped, in the order of their first step."""
        return tuple(dict.fromkeys(int(op["optimizer"]) for op in self.ops("step")))

    def optimizer(self, number: int) -> Event:
        """Birth record of an optimizer: class, place, parameter groups."""
        return next((e for e in self.events("optimizer") if e["optimizer"] == number), {})


def traces(events: Iterable[Event]) -> list[Trace]:
    """One Trace per process that was probed, those that train first, then by rank and pid."""
    by_process: dict[int, list[Event]] = {}
    for event in events:
        by_process.setdefault(int(event.get("pid", 0)), []).append(event)
    found = [Trace(pid, _rank(told), tuple(told)) for pid, told in by_process.items()]
    return sorted(found, key=lambda t: (not t.trains, t.rank if t.rank is not None else -1, t.pid))


def _rank(told: Sequence[Event]) -> int | None:
    ranks = [event["rank"] for event in told if event.get("rank") is not None]
    return int(ranks[0]) if ranks else None


def place(site: str | None) -> tuple[str | None, int | None]:
    """Splits "path:line" into its parts; (None, None) when nothing is known."""
    if not site:
        return None, None
    path, _, line = site.rpartition(":")
    return path, int(line)


def shown(event: Event) -> str:
    """Where an operation happened, the library's line too when a framework called it."""
    user, library = event.get("site"), event.get("lib")
    if user and library:
        return f"{user} (through {library})"
    return str(user or library or "a place that could not be seen")
