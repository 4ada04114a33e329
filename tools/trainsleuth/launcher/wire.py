"""JSON lines between the launcher and its supervisor."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from typing import Any


def tell(kind: str, **fields: Any) -> None:
    """Say one thing to the launcher, wholly; if it is gone, to nobody."""
    line = memoryview(json.dumps({"kind": kind, **fields}).encode() + b"\n")
    with suppress(OSError):
        while line:
            line = line[os.write(1, line) :]


def read_job() -> tuple[dict[str, Any], bytes]:
    """The first line of standard input, and what came right behind it."""
    data = b""
    while b"\n" not in data:
        chunk = os.read(0, 1 << 16)
        if not chunk:
            sys.exit(0)  # the launcher went before it said what to do
        data += chunk
    line, _, rest = data.partition(b"\n")
    job: dict[str, Any] = json.loads(line)
    return job, rest
