"""What a look at the process tree tells: memory in use, and Python processes that we are not in."""

from __future__ import annotations

import os
import time
from typing import Any

from trainsleuth.launcher import processes

INTERVAL = 0.25  # seconds between two looks, more where a look itself is slow


class Census:
    """Looks at the descendants of this process, which must be a child subreaper to see them all."""

    def __init__(self, folder: str, memory_bytes: int) -> None:
        self.used_bytes = 0
        self.peak_bytes = 0
        self.finished: set[str] = set()  # marks of processes that ended on purpose
        self.finished_at = float("inf")
        self.next_look = 0.0
        self._folder = folder
        self._memory_bytes = memory_bytes
        self._pythons: dict[int, list[str]] = {}
        self._with_torch: set[int] = set()
        self._kernel_kills = _kernel_kills()

    def look(self) -> bool:
        """Update everything; True when the tree uses more memory than it may."""
        began = time.monotonic()
        tree = processes.descendants(os.getpid())
        names = set(_names(self._folder))
        marks = {name for name in names if name.startswith("finished-")}
        if marks > self.finished:
            self.finished, self.finished_at = marks, began
        self._note_pythons(tree, names)
        self.used_bytes = sum(process.resident_bytes for process in tree)
        if self.used_bytes > self._memory_bytes:
            self.used_bytes = processes.proportional_bytes(tree)  # forks share most of theirs
        self.peak_bytes = max(self.peak_bytes, self.used_bytes)
        now = time.monotonic()
        self.next_look = now + max(INTERVAL, 20 * (now - began))
        return self.used_bytes > self._memory_bytes

    def unprobed(self) -> list[dict[str, Any]]:
        """Python processes that never said hello and are no forks of their parents."""
        names = set(_names(self._folder))
        return [
            {"pid": pid, "argv": argv[:20], "torch": pid in self._with_torch}
            for pid, argv in self._pythons.items()
            if f"events-{pid}.jsonl" not in names
        ]

    def kernel_kills(self) -> int:
        """Processes that the kernel killed for memory since we began, on the whole machine."""
        return _kernel_kills() - self._kernel_kills

    def _note_pythons(self, tree: list[processes.Process], names: set[str]) -> None:
        lines = {process.pid: processes.arguments(process.pid) for process in tree}
        for process in tree:
            argv = lines[process.pid]
            is_fork = lines.get(process.parent) == argv
            if is_fork or not argv or f"events-{process.pid}.jsonl" in names:
                continue
            if processes.is_python(process.pid):
                self._pythons[process.pid] = argv
                if process.pid not in self._with_torch and processes.has_torch(process.pid):
                    self._with_torch.add(process.pid)


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _kernel_kills() -> int:
    try:
        with open("/proc/vmstat") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("oom_kill "))
    except (OSError, StopIteration):
        return 0
