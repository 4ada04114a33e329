"""What a launch is allowed, and what it came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

Ended = Literal[
    "finished",
    "stopped",
    "crashed",
    "timeout",
    "out_of_memory",
    "cancelled",
    "not_probed",
    "not_started",
]
Contained = Literal["overlay", "copy", "none"]
Event = Mapping[str, Any]


class LaunchError(Exception):
    """We were used wrongly. What the user's program does never raises."""


@dataclass(frozen=True)
class Limits:
    """`seconds` of wall clock, more than 0; `memory_bytes` resident in the whole process tree, None for 80 %
    of what is available at the start; `output_bytes` of output kept, half from its head, half from its tail.
    `given`: the limit that the user knows, where `seconds` is what was left of it.
    """

    seconds: float = 60.0
    memory_bytes: int | None = None
    output_bytes: int = 200_000
    given: float | None = None


DEFAULT = Limits()


class Stand(NamedTuple):
    """`path` as findings tell it; `inside` is the call of a library that it waits in, "" where it is the line itself.

    `by_probe`: a listener of ours was at work there, called from the user's line.
    """

    path: str
    line: int
    inside: str
    by_probe: bool = False


@dataclass(frozen=True)
class Run:
    """One run of the user's command, however it ended.

    `command` is what the user gave and `ran` the shell line that repeats it by hand, probed. `ended` says
    how: "finished" by itself with code 0, "stopped" by us when the step budget was reached, "crashed" with
    another code or a signal, "timeout", "out_of_memory", "cancelled", "not_probed" when no hook was seen
    (or code 70), "not_started". `why` is one sentence with what to do next. `exit_code` is negative for a
    signal and None if nothing ran. `events` of all processes are in order of time and carry "pid" and
    "rank". `wrote` and `deleted` are what the run changed: relative to the root, or absolute outside it;
    changes inside the root were contained as `contained` says and are gone unless they were kept.
    `peak_bytes` is the most resident memory seen in the process tree, sampled four times a second. `stand` is
    where a run stood that was cut short.
    """

    command: tuple[str, ...]
    ran: str
    folder: Path
    ended: Ended
    why: str
    exit_code: int | None = None
    seconds: float = 0.0
    output: str = ""
    events: tuple[Event, ...] = ()
    contained: Contained = "none"
    wrote: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    peak_bytes: int = 0
    stand: Stand | None = None
