"""The descendants of one process, from /proc: who they are, what they use, and their end.

Without /proc (macOS) nothing is known about them, and only the command's own process group can be killed.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Process:
    pid: int
    parent: int
    group: int
    resident_bytes: int
    is_zombie: bool


def is_supported() -> bool:
    return (PROC / "self/stat").exists()


def processes() -> Iterable[Process]:
    """Every process that we may see."""
    with suppress(OSError):
        for name in os.listdir(PROC):
            if name.isdigit():
                with suppress(OSError, ValueError, IndexError):  # ended while we looked
                    yield _process(int(name))


def _process(pid: int) -> Process:
    with open(f"/proc/{pid}/stat", "rb") as file:
        after_name = file.read().rpartition(b")")[2].split()
    return Process(
        pid=pid,
        parent=int(after_name[1]),
        group=int(after_name[2]),
        resident_bytes=int(after_name[21]) * PAGE,
        is_zombie=after_name[0] in (b"Z", b"X"),
    )


def descendants(ancestor: int) -> list[Process]:
    """Living processes below `ancestor`, parents before children. Those whose parent died count too where
    `ancestor` is a child subreaper."""
    children: dict[int, list[Process]] = {}
    for process in processes():
        children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    waiting = [ancestor]
    while waiting:
        below = children.pop(waiting.pop(), [])
        found.extend(process for process in below if not process.is_zombie)
        waiting.extend(process.pid for process in below)
    return found


def send(tree: Iterable[Process], number: signal.Signals) -> None:
    """Signal whole process groups at once, so that nobody forks away between two kills."""
    own = os.getpgrp()
    tree = list(tree)
    for group in {process.group for process in tree} - {own, 0}:
        with suppress(OSError):
            os.killpg(group, number)
    for process in tree:
        if process.group in (own, 0):
            with suppress(OSError):
                os.kill(process.pid, number)


def proportional_bytes(tree: Iterable[Process]) -> int:
    """Memory with shared pages counted once: slower to ask for than the resident size."""
    total = 0
    for process in tree:
        try:
            with open(f"/proc/{process.pid}/smaps_rollup", "rb") as file:
                total += next(int(line.split()[1]) for line in file if line.startswith(b"Pss:")) * 1024
        except (OSError, StopIteration):
            total += process.resident_bytes
    return total


def arguments(pid: int) -> list[str]:
    """The command line of a process, [] when it is gone."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return [part.decode("utf-8", "backslashreplace") for part in file.read().split(b"\0")[:-1]]
    except OSError:
        return []


def is_python(pid: int) -> bool:
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe")).startswith("python")
    except OSError:
        return False


def has_torch(pid: int) -> bool:
    """Whether torch's native library is loaded there."""
    try:
        with open(f"/proc/{pid}/maps", "rb") as file:
            return b"/libtorch" in file.read()
    except OSError:
        return False


def marked(word: str) -> list[Process]:
    """Processes whose environment holds `word`: what is left of a tree when its root is gone."""
    needle = os.fsencode(word)
    found = []
    for process in processes():
        with suppress(OSError), open(f"/proc/{process.pid}/environ", "rb") as file:
            if needle in file.read() and process.pid != os.getpid():
                found.append(process)
    return found
