"""The user's own command, in the user's own interpreter, with our runtime inside: bounded and killable.

The launcher (our process) starts a supervisor, which starts the command and outlives neither. The runtime
inside each Python process writes events into the run folder; a `Run` brings back all that there is to know.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from trainsleuth.launcher.record import DEFAULT, Contained, Ended, Event, LaunchError, Limits, Run

__all__ = ["Contained", "Ended", "Event", "LaunchError", "Limits", "Run", "launch"]


def launch(
    command: Sequence[str],
    experiment: Mapping[str, Any],
    *,
    root: Path | None = None,
    cwd: Path | None = None,
    python: str | None = None,
    limits: Limits = DEFAULT,
    contain: Literal["auto", "overlay", "copy", "none"] = "auto",
    cancelled: Callable[[], bool] | None = None,
    progress: Callable[[str], None] | None = None,
    keep: bool = False,
    instead: Mapping[str, str] | None = None,
) -> Run:
    """Run `command` probed and come back with what happened; nothing that it started is left behind.

    `experiment` is handed to the hooks; its "env" may set variables of the command, or remove them with
    None. `root` is the folder whose contents must not change: by default the git work tree around `cwd`,
    else `cwd`. What the run tells has paths from `root` when it is given, else from `cwd`. `python` is the
    interpreter to use instead of the one that the command names; its folder comes first on PATH. `cancelled` is asked ten times a second, `progress` gets a line each second; both
    are called in this thread.
    `keep` leaves what the run wrote in the run folder, below "layer" or "copy". `instead` are texts of files,
    by path relative to the root, that the command finds in place of the user's; these stay as they are.
    Raises LaunchError only for wrong use, whatever the user's program does.
    """
    if os.name == "nt":
        raise LaunchError("running a command on Windows is not supported yet: use WSL or a Linux machine")
    from trainsleuth.launcher.conduct import conduct
    from trainsleuth.launcher.request import Request

    request = Request(
        command=tuple(command),
        experiment=experiment,
        root=root,
        cwd=cwd or Path.cwd(),
        python=python,
        limits=limits,
        contain=contain,
        cancelled=cancelled or (lambda: False),
        progress=progress or (lambda _: None),
        keep=keep,
        instead=instead or {},
    )
    if isinstance(command, str):
        raise LaunchError(f"the command must be a list of words, not the one string {command!r}")
    return conduct(request)
