"""Where a run stood when its time was up: the user's own line, out of the stack that its process left."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from trainsleuth.launcher.environment import RUNTIME
from trainsleuth.launcher.record import Event, Stand

_FRAME = re.compile(r'  File "(?P<path>.+)", line (?P<line>\d+) in (?P<name>.+)')
_TOLD = str(RUNTIME / "hooks.py"), frozenset({"tell", "hook"})  # below these only listeners run
_MAIN = "Current thread"  # the one that got the signal: the first of the process


def stood(folder: Path, events: Sequence[Event]) -> Stand | None:
    """Of the process that told most; None where no stack holds a line of the user's."""
    told = Counter(event["pid"] for event in events if event["pid"] is not None)
    hooked = {event["pid"] for event in events if event["kind"] == "hooks"}
    for pid, _ in told.most_common():
        path = folder / f"stack-{pid}.txt"
        if pid in hooked and path.exists():
            root, _, rest = path.read_text("utf-8", "replace").partition("\n")
            told_from, _, dump = rest.partition("\n")
            if (found := _own(root, told_from, _main(dump.split("\n")))) is not None:
                return found
    return None


def _main(lines: Iterable[str]) -> list[re.Match[str]]:
    """The frames of the thread that got the signal, innermost first."""
    frames: list[re.Match[str]] = []
    is_main = False
    for line in lines:
        if not line.startswith("  "):
            is_main = line.startswith(_MAIN)
        elif is_main and (frame := _FRAME.fullmatch(line)) is not None:
            frames.append(frame)
    return frames


def _own(root: str, told_from: str, frames: Sequence[re.Match[str]]) -> Stand | None:
    for place, frame in enumerate(frames):
        if _is_own(root, frame["path"]):
            inner = frames[0] if place else None
            inside = f"{inner['name']} of {os.path.basename(inner['path'])}" if inner is not None else ""
            shown = os.path.relpath(frame["path"], told_from).replace(os.sep, "/")
            return Stand(shown, int(frame["line"]), inside, any(map(_is_told, frames[:place])))
    return None


def _is_told(frame: re.Match[str]) -> bool:
    hooks, names = _TOLD
    return frame["path"] == hooks and frame["name"] in names


def _is_own(root: str, path: str) -> bool:
    return path.startswith(root.rstrip("/") + "/") and "/site-packages/" not in path
