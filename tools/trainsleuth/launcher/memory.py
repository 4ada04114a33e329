"""How much memory a run may take on this machine, or in this container."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

SHARE = 0.8
_GROUPS = (  # (limit, in use): cgroup v2, then v1
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def default_limit() -> int:
    """`SHARE` of the bytes that are available now."""
    available = [_of_machine()]
    for limit, used in _GROUPS:
        with suppress(OSError, ValueError):  # no such group, or "max"
            available.append(int(Path(limit).read_text()) - int(Path(used).read_text()))
    return max(int(SHARE * min(available)), 0)


def _of_machine() -> int:
    with suppress(OSError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
