"""The whole conversation as a file of JSON lines, written as it happens."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from trainsleuth.wording import strict


class Transcript:
    """Each line is whole when the process is killed right after it; only the user can read the file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)

    def add(self, kind: str, **what: Any) -> None:
        line = json.dumps({"kind": kind, "at": round(time.time(), 3), **strict(what)}, allow_nan=False)
        with self.path.open("a", encoding="ascii") as file:
            file.write(line + "\n")
