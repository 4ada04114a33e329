"""What the server keeps: whole answers as files outside of the repository, and what was found, by repository."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from itertools import count
from pathlib import Path

from trainsleuth.answers import Answer
from trainsleuth.finding import Finding
from trainsleuth.notes.lock import home_folder

KEPT = 50  # newest answers
_number = count()
_heard: dict[Path, dict[str, list[Finding]]] = {}


def keep(answer: Answer, kind: str) -> str:
    """Writes the whole answer as JSON, and says in a line where it is."""
    folder = home_folder() / "answers"
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}-{next(_number):03}-{kind}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        (folder / name).write_text(answer.json(), encoding="ascii")
        for old in sorted(folder.glob("*.json"))[:-KEPT]:
            old.unlink(missing_ok=True)
    except OSError as error:
        return f"the full result was not kept ({error.strerror}: {folder}; set TRAINSLEUTH_HOME)"
    return f"full result: {folder / name}"


def hear(root: Path, findings: Iterable[Finding]) -> None:
    """What each test last said about a repository, for as long as the server lives."""
    told: dict[str, list[Finding]] = {}
    for finding in findings:
        told.setdefault(finding.by, []).append(finding)
    _heard.setdefault(root, {}).update(told)


def heard(root: Path) -> dict[str, list[Finding]]:
    """By test, what it last said about the repository since the server started."""
    return dict(_heard.get(root, {}))
