"""The process between us and the user's command: it starts it, watches it, and never leaves it behind.

It is our own interpreter with the standard library only, in a session of its own. Its standard input is a
pipe whose other end nobody but the launcher holds: one line with the job, perhaps "cancel" later, and end of
file when the launcher is gone, however it went. On its standard output it tells the launcher one JSON line
per fact: "unable" or "refused" instead of "started", "alive" each second, "ended" last.

On Linux it is a child subreaper, so that whatever the command starts stays below it and is found in /proc.
Elsewhere only the process group of the command is killed, and memory is not watched.
"""

from __future__ import annotations

import os
from contextlib import suppress

from trainsleuth.launcher import changes, linux, overlay
from trainsleuth.launcher.folder import clear
from trainsleuth.launcher.instead import put
from trainsleuth.launcher.watch import Watch
from trainsleuth.launcher.wire import read_job, tell


def main() -> None:
    os.chdir("/")
    with suppress(OSError, AttributeError):
        linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
    job, rest = read_job()
    layers: list[overlay.Layer] = []
    if job["overlay"]:
        try:
            layers = overlay.cover(job["overlay"], job["layer"])
            put(job["overlay"], job["instead"])
        except OSError as error:
            return tell("unable", why=str(error))
    protected = _protect(job["protect"])
    # only we hold the writing end: when we are gone, every probed process is killed by its own reading end
    os.open(job["lifeline"], os.O_RDWR | os.O_CLOEXEC)
    watch = Watch(job, rest)
    try:
        watch.start()
    except OSError as error:
        return tell("refused", number=error.errno, why=error.strerror or str(error))
    how = watch.until_over()
    outlived = watch.end(how)
    _keep_output(job["folder"], watch.output.text())
    found = _changes_in(layers)
    if not job["keep"]:
        for folder in [os.path.dirname(layer.upper) for layer in layers]:
            clear(folder)
    if how == "orphaned":  # nobody else is left to do it
        for folder in job["remove"]:
            clear(folder)
    return tell(
        "ended",
        how=how,
        code=watch.code,
        seconds=watch.seconds,
        outlived=outlived,
        peak_bytes=watch.census.peak_bytes,
        used_bytes=watch.census.used_bytes,
        unprobed=watch.census.unprobed(),
        kernel_kills=watch.census.kernel_kills(),
        wrote=found.wrote,
        deleted=found.deleted,
        untold=found.untold,
        protected=protected,
    )


def _protect(folder: str | None) -> bool:
    """Whether the kernel now forbids writing below `folder`."""
    if folder is None:
        return False
    try:
        linux.forbid_writing(folder)
    except (OSError, AttributeError):
        return False
    return True


def _changes_in(layers: list[overlay.Layer]) -> changes.Changes:
    wrote: list[str] = []
    deleted: list[str] = []
    for layer in layers:
        prefix = os.path.relpath(layer.mounted_at, layers[0].mounted_at)
        prefix = "" if prefix == "." else prefix + "/"
        for path, was_deleted in changes.in_layer(layer.upper, f"/proc/self/fd/{layer.lower}"):
            (deleted if was_deleted else wrote).append(prefix + path)
    return changes.collect(wrote, deleted)


def _keep_output(folder: str, text: str) -> None:
    with suppress(OSError), open(os.path.join(folder, "output.txt"), "w", encoding="utf-8") as file:
        file.write(text)
