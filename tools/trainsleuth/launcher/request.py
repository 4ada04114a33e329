"""What `launch` was asked for, and whether it makes sense."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainsleuth.launcher.record import LaunchError, Limits
from trainsleuth.launcher.root import choose_root


@dataclass(frozen=True)
class Request:
    """What `launch` was asked for."""

    command: tuple[str, ...]
    experiment: Mapping[str, Any]
    root: Path | None
    cwd: Path
    python: str | None
    limits: Limits
    contain: str
    cancelled: Callable[[], bool]
    progress: Callable[[str], None]
    keep: bool
    instead: Mapping[str, str]


def check(request: Request) -> None:
    """Raises LaunchError."""
    if not request.command or not all(isinstance(word, str) for word in request.command):
        raise LaunchError("the command must be a list of at least one word")
    if any("\0" in word for word in request.command):
        raise LaunchError("a word of the command holds a NUL character")
    if request.contain not in ("auto", "overlay", "copy", "none"):
        raise LaunchError(f"contain must be auto, overlay, copy or none, not {request.contain!r}")
    if request.instead and request.contain == "none":
        raise LaunchError("files can be replaced for a run only where it is contained: contain must not be none")
    if not request.limits.seconds > 0 or request.limits.output_bytes <= 0:
        raise LaunchError("the limits of seconds and output_bytes must be above 0")


def places(request: Request) -> tuple[Path, Path]:
    """(root, cwd), absolute and without links. Raises LaunchError."""
    cwd = request.cwd.resolve()
    root = request.root.resolve() if request.root is not None else choose_root(cwd)
    for place in (root, cwd):
        if not place.is_dir():
            raise LaunchError(f"{place} is not a folder")
    return root, cwd
