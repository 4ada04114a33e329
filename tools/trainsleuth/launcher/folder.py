"""The folder of one run: made fresh, read when the run is over, pruned when newer ones came."""

from __future__ import annotations

import json
import os
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from trainsleuth.launcher.record import Event

KEPT = 20  # newest run folders
LIFELINE = "lifeline"

_number = count()


def home() -> Path:
    """Where runs are kept: $TRAINSLEUTH_HOME, else the user's cache folder."""
    own = os.environ.get("TRAINSLEUTH_HOME")
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(own) if own else Path(cache) / "trainsleuth"


def make() -> Path:
    """A fresh folder for one run, with the FIFO that ties its processes to the supervisor. Raises OSError."""
    runs = (home() / "runs").absolute()
    runs.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder = runs / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}-{next(_number):03}"
    folder.mkdir(mode=0o700)
    os.mkfifo(folder / LIFELINE, 0o600)
    return folder


def prune(runs: Path) -> None:
    """Remove all but the newest `KEPT` run folders, never one whose supervisor lives."""
    with suppress(OSError):
        folders = sorted((entry for entry in runs.iterdir() if entry.is_dir()), key=lambda each: each.stat().st_mtime)
        for old in folders[:-KEPT]:
            if not _is_in_use(old):
                clear(str(old))


def _is_in_use(folder: Path) -> bool:
    """A supervisor holds both ends of its FIFO, so that somebody can be written to."""
    try:
        os.close(os.open(folder / LIFELINE, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True


def clear(folder: str) -> None:
    """Remove a folder, also what its owner made unreadable. Links are removed, never followed."""
    for here, names, _ in os.walk(folder):
        for path in (os.path.join(here, name) for name in names):
            with suppress(OSError):
                if not os.path.islink(path):
                    os.chmod(path, stat.S_IRWXU)
    shutil.rmtree(folder, ignore_errors=True)


def events(folder: Path) -> tuple[Event, ...]:
    """The events of all processes in order of time, each with "pid" and "rank".

    The rank is the last one that the process itself named: it may learn it after its hello.
    """
    found: list[dict[str, Any]] = []
    for path in folder.glob("events-*.jsonl"):
        own = list(_lines(path))
        ranks = [event["rank"] for event in own if event.get("rank") is not None]
        rank = ranks[-1] if ranks else None
        pid = int(path.stem.partition("-")[2])
        found.extend(
            {**event, "pid": pid, "rank": rank if event.get("rank") is None else event["rank"]} for event in own
        )
    return tuple(sorted(found, key=lambda event: event["t"]))


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Whole lines only: the process may have been killed while it wrote."""
    with open(path, encoding="ascii", errors="replace") as file:
        for line in file:
            with suppress(ValueError):
                event = json.loads(line)
                if isinstance(event, dict) and isinstance(event.get("t"), (int, float)):
                    yield event
