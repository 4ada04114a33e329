"""Pictures that a probe made of what entered the model, for whoever can look at them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from trainsleuth.launcher import Run

MOST = 2
MOST_BYTES = 1_000_000  # of one
_PNG = b"\x89PNG\r\n\x1a\n"


def pictures(runs: Iterable[Run]) -> tuple[bytes, ...]:
    """The first PNG files that the runs name. Only those in their own run folders: the program writes the names."""
    found = (content for run in runs for name in _named(run) if (content := _content(run.folder, name)))
    return tuple(content for _, content in zip(range(MOST), found, strict=False))


def _named(run: Run) -> Iterator[str]:
    for event in run.events:
        shown: Any = event.get("shown", ())
        for one in shown if isinstance(shown, list) else ():
            if isinstance(one, dict) and one.get("kind") == "image/png" and isinstance(one.get("path"), str):
                yield one["path"]


def _content(folder: Path, name: str) -> bytes | None:
    try:
        path = Path(name).resolve(strict=True)
        if path.parent != folder.resolve() or not path.is_file() or path.stat().st_size > MOST_BYTES:
            return None
        content = path.read_bytes()
    except (OSError, ValueError, RuntimeError):
        return None
    return content if content.startswith(_PNG) else None
