"""The commands, one file each: what may be asked (`add_options`), and asking the engine once to show its answer (`run`).

The docstring of the file is the command's line in the help.
"""

from __future__ import annotations

import argparse
from typing import Protocol

from trainsleuth.cli.options import Command

from . import (
    check,
    compare,
    evidence,
    explain,
    loss_surface,
    map,
    notes,
    preflight,
    probe,
    read,
    replay,
    report,
    serve,
    sweep,
    triage,
    watch,
)


class Verb(Protocol):
    __doc__: str | None

    def add_options(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, asked: argparse.Namespace, command: Command) -> int:
        """Returns the exit code."""


VERBS: dict[str, Verb] = {
    "map": map,
    "read": read,
    "check": check,
    "probe": probe,
    "triage": triage,
    "preflight": preflight,
    "watch": watch,
    "replay": replay,
    "compare": compare,
    "notes": notes,
    "explain": explain,
    "report": report,
    "evidence": evidence,
    "loss-surface": loss_surface,
    "sweep": sweep,
    "serve": serve,
}
